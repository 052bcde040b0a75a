// The desk: one image after the other, by keys, mouse or touch. A decision is on the server's disk before the page moves on.
"use strict";

import { Refused, call, element, enter } from "./web.js";
import { Stage } from "./stage.js";
import { showAgreement } from "./agreement.js";

const byId = (name) => document.getElementById(name);
const PAUSE = 1000; // milliseconds between attempts while the server cannot be reached

const KEYS = [
  ["a", "accept"],
  ["1 … 4", "reject for the reason of that number (4: asks for a note)"],
  ["r", "reject with a note"],
  ["u", "undo your last decision"],
  ["← →", "previous and next image"],
  ["m", "mask and box on and off"],
  ["z", "zoom 1, 2 and 4 times"],
  ["e", "mend the box or the mask"],
  ["x, o, b", "mending: box, object brush, background brush"],
  ["arrows", "mending the box: move it; with Shift its right and lower edge"],
  ["g", "mending: GrabCut again in the box, with what is painted"],
  ["[ ]", "mending: narrower and wider brush"],
  ["c", "mending: clear what was painted"],
  ["Enter, Esc", "mending: keep it, or leave it as it was"],
  ["?", "these keys"],
];

const desk = { items: [], shown: [], place: 0, last: null, busy: false, item: null, reasons: [], classes: [] };
const loaded = new Map(); // address → what is shown of an image
const stage = new Stage(byId("stage"), byId("canvas"), tryMending);

function say(text, bad = false) {
  const message = byId("message");
  message.textContent = text;
  message.classList.toggle("bad", bad);
}

// Send until the server has answered: what is sent again is the same attempt, so it counts once.
async function send(path, body) {
  for (;;) {
    try {
      return await call(path, body);
    } catch (error) {
      if (error instanceof Refused) {
        throw error;
      }
      say("The server cannot be reached; nothing is lost, trying again …", true);
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  }
}

async function tryMending(box, strokes) {
  const item = desk.shown[desk.place];
  say(strokes === null ? "" : "GrabCut is working …");
  try {
    const outcome = await send("/api/try", { item: item.address, box, strokes });
    say(strokes === null ? "" : `The object covers ${(100 * outcome.share).toFixed(1)}% of the image now.`);
    return outcome;
  } catch (error) {
    say(error.message, true);
    return null;
  }
}

function load(item) {
  if (!loaded.has(item.address)) {
    const promise = fetchItem(item).catch((error) => {
      loaded.delete(item.address);
      throw error;
    });
    loaded.set(item.address, promise);
    if (loaded.size > 40) {
      loaded.delete(loaded.keys().next().value);
    }
  }
  return loaded.get(item.address);
}

async function fetchItem(item) {
  const facts = await send(`/api/item/${item.address}`);
  if (!facts.error) {
    facts.picture = new Image();
    facts.picture.src = `/picture/${facts.image}`;
    facts.pictures = facts.variants.map(([name, address]) => {
      const image = new Image();
      image.src = `/picture/${address}`;
      image.alt = name;
      return image;
    });
    await facts.picture.decode().catch(() => {
      facts.error = "this image cannot be shown";
    });
  }
  return facts;
}

function inWords(decision, reason, note) {
  if (!decision) {
    return "not reviewed";
  }
  const words = { accept: "accepted", mend: "mended", reject: "rejected" }[decision];
  return [words, reason, note].filter(Boolean).join(": ");
}

async function show(place) {
  desk.place = Math.max(0, Math.min(place, desk.shown.length - 1));
  const item = desk.shown[desk.place];
  stage.close();
  setMending(false);
  if (!item) {
    byId("title").textContent = "No image to show; choose another filter.";
    byId("variants").replaceChildren();
    stage.clear();
    return;
  }
  const facts = await load(item);
  if (desk.shown[desk.place] !== item) {
    return; // somebody went on meanwhile
  }
  desk.item = facts;
  byId("title").textContent = `${facts.class || "no class"} · ${facts.id}`;
  const review = facts.review || {};
  byId("decided").textContent = `Image ${desk.place + 1} of ${desk.shown.length}: ${inWords(
    review.decision, review.reason, review.note)}`;
  const variants = byId("variants");
  variants.replaceChildren();
  if (facts.error) {
    say(facts.error, true);
    stage.clear();
  } else {
    stage.open(facts);
    facts.variants.forEach(([name], number) => {
      variants.append(element("figure", {}, facts.pictures[number], element("figcaption", {}, name)));
    });
    byId("canvas").setAttribute("aria-label", `${facts.class}: image with mask and box, ${inWords(review.decision, review.reason)}`);
  }
  byId("edit").disabled = Boolean(facts.error);
  byId("desk").dataset.item = facts.id; // which image is wholly shown
  const next = desk.shown[nextOpen(desk.place)] || desk.shown[desk.place + 1];
  if (next) {
    load(next).catch(() => {});
  }
}

function nextOpen(from) {
  const count = desk.shown.length;
  for (let step = 1; step <= count; step += 1) {
    const place = (from + step) % count;
    if (!desk.shown[place].decision) {
      return place;
    }
  }
  return -1;
}

function count() {
  const decided = desk.shown.filter((item) => item.decision).length;
  byId("progress").max = Math.max(1, desk.shown.length);
  byId("progress").value = decided;
  byId("counts").textContent = `${decided} of ${desk.shown.length} decided`;
  byId("undo").disabled = desk.last === null;
}

function mark(item, review) {
  item.decision = review ? review.decision : null;
  item.reason = review ? review.reason : "";
  loaded.delete(item.address);
}

// Only one decision is under way at a time; keys pressed meanwhile do nothing.
async function alone(action) {
  if (desk.busy) {
    return;
  }
  desk.busy = true;
  document.body.setAttribute("aria-busy", "true");
  try {
    await action();
  } catch (error) {
    say(error.message, true);
  } finally {
    desk.busy = false;
    document.body.removeAttribute("aria-busy");
  }
}

function decide(decision, more = {}) {
  return alone(async () => {
    const item = desk.shown[desk.place];
    if (!item) {
      return;
    }
    const attempt = crypto.getRandomValues(new Uint32Array(4)).join("-");
    const { review, last } = await send("/api/decide", { item: item.address, attempt, decision, ...more });
    mark(item, review);
    desk.last = last;
    count();
    say(`${desk.item.id}: ${inWords(review.decision, review.reason, review.note)}`);
    const next = nextOpen(desk.place);
    if (next < 0) {
      say(`All ${desk.shown.length} images shown here are decided.`);
      await show(desk.place);
    } else {
      await show(next);
    }
  });
}

function undo() {
  return alone(async () => {
    if (desk.last === null) {
      say("There is nothing to undo.");
      return;
    }
    const { item: address, review, last } = await send("/api/undo", { number: desk.last });
    const item = desk.items.find((other) => other.address === address);
    mark(item, review);
    desk.last = last;
    let place = desk.shown.indexOf(item);
    if (place < 0) {
      desk.shown.splice(desk.place, 0, item);
      place = desk.place;
    }
    count();
    await show(place);
    say(`Taken back: ${desk.item.id} is ${inWords(review && review.decision, review && review.reason)}.`);
  });
}

function reject(number) {
  const reason = desk.reasons[number];
  if (!reason) {
    return;
  }
  if (number === desk.reasons.length - 1) {
    askForNote(reason);
  } else {
    decide("reject", { reason });
  }
}

function askForNote(reason) {
  const dialog = byId("rejecting");
  byId("note").value = "";
  for (const radio of byId("radios").querySelectorAll("input")) {
    radio.checked = radio.value === reason;
  }
  dialog.returnValue = "";
  dialog.showModal();
  byId("note").focus();
}

function setMending(open) {
  byId("mending").hidden = !open;
  document.body.classList.toggle("mending", open);
  byId("edit").setAttribute("aria-pressed", String(open));
}

function mend() {
  if (!desk.item || desk.item.error || desk.busy) {
    return;
  }
  if (stage.mending) {
    stage.close();
    setMending(false);
  } else {
    stage.mend(desk.item.review);
    setMending(true);
    chooseTool("box");
  }
}

function chooseTool(tool) {
  stage.tool = tool;
  for (const name of ["box", "object", "ground"]) {
    byId(`tool-${name}`).setAttribute("aria-pressed", String(name === tool));
  }
}

async function keepMend() {
  if (!(await stage.settled())) {
    return;
  }
  decide("mend", { box: stage.box, strokes: stage.strokesToSend() });
}

function step(distance) {
  if (!desk.busy) {
    show(desk.place + distance);
  }
}

function toggleOverlay() {
  byId("overlay").setAttribute("aria-pressed", String(stage.toggleOverlay()));
}

function setBrush(width) {
  const brush = byId("brush");
  brush.value = width;
  stage.width = Number(brush.value);
}

const DESK_KEYS = {
  a: () => decide("accept"),
  r: () => askForNote(desk.reasons[0]),
  u: undo,
  ArrowLeft: () => step(-1),
  ArrowRight: () => step(1),
  m: toggleOverlay,
  z: () => stage.zoom(),
  e: mend,
  "?": () => byId("keys").showModal(),
};
const MENDING_KEYS = {
  e: mend,
  Escape: mend,
  m: toggleOverlay,
  z: () => stage.zoom(),
  x: () => chooseTool("box"),
  o: () => chooseTool("object"),
  b: () => chooseTool("ground"),
  g: () => stage.segment(),
  c: () => stage.clearStrokes(),
  "[": () => setBrush(stage.width - 1),
  "]": () => setBrush(stage.width + 1),
  Enter: keepMend,
  "?": () => byId("keys").showModal(),
};
const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function onKey(event) {
  const typing = event.target.closest && event.target.closest("input, select, textarea, dialog");
  if (typing || event.ctrlKey || event.metaKey || event.altKey || byId("desk").hidden) {
    return;
  }
  const onButton = event.target.closest && event.target.closest("button");
  if (onButton && (event.key === "Enter" || event.key === " ")) {
    return; // the button's own
  }
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (stage.mending && MOVES[key] && stage.tool === "box") {
    event.preventDefault();
    stage.moveBox(MOVES[key], event.shiftKey);
    return;
  }
  const action = (stage.mending ? MENDING_KEYS : DESK_KEYS)[key];
  const number = "123456789".indexOf(key);
  if (action) {
    event.preventDefault();
    action();
  } else if (!stage.mending && key.length === 1 && number >= 0) {
    event.preventDefault();
    reject(number);
  }
}

function option(value, text) {
  return element("option", { value }, text);
}

function fillFilters() {
  const classes = desk.classes.map((name, number) => option(String(number), name));
  byId("class-filter").replaceChildren(option("", "all"), ...classes);
  const states = [["", "all"], ["todo", "not reviewed"], ["accept", "accepted"], ["mend", "mended"], ["reject", "rejected"]];
  const reasons = desk.reasons.map((reason, number) => option(`reason ${number}`, `rejected: ${reason}`));
  byId("state-filter").replaceChildren(...states.map(([value, text]) => option(value, text)), ...reasons);
}

function fits(item, label, state) {
  if (label !== "" && item.label !== Number(label)) {
    return false;
  }
  if (state.startsWith("reason ")) {
    return item.decision === "reject" && item.reason === desk.reasons[Number(state.slice(7))];
  }
  return state === "" || (state === "todo" ? !item.decision : item.decision === state);
}

async function filter() {
  const [label, state] = [byId("class-filter").value, byId("state-filter").value];
  desk.shown = desk.items.filter((item) => fits(item, label, state));
  count();
  const open = nextOpen(-1);
  await show(state === "" && open >= 0 ? open : 0);
}

function fillButtons() {
  desk.reasons.forEach((reason, number) => {
    const label = number === desk.reasons.length - 1 ? "other …" : reason;
    byId("reasons").append(
      element("button", { type: "button", "aria-label": `Reject: ${reason}`, onclick: () => reject(number) }, `${label} `, element("kbd", {}, String(number + 1))),
    );
    const radio = element("input", { type: "radio", name: "reason", value: reason, required: true });
    byId("radios").append(element("label", {}, radio, reason));
  });
  for (const [key, words] of KEYS) {
    byId("key-table").append(element("tr", {}, element("td", {}, element("kbd", {}, key)), element("td", {}, words)));
  }
}

function connect() {
  const clicks = {
    accept: () => decide("accept"), reject: () => askForNote(desk.reasons[0]), undo,
    previous: () => step(-1), next: () => step(1), overlay: toggleOverlay, zoom: () => stage.zoom(), edit: mend,
    "tool-box": () => chooseTool("box"), "tool-object": () => chooseTool("object"), "tool-ground": () => chooseTool("ground"),
    grabcut: () => stage.segment(), clear: () => stage.clearStrokes(), keep: keepMend, cancel: mend,
    "to-keys": () => byId("keys").showModal(), "to-agreement": () => view("agreement"), "to-desk": () => view("desk"),
  };
  for (const [name, action] of Object.entries(clicks)) {
    byId(name).addEventListener("click", action);
  }
  byId("brush").addEventListener("input", (event) => setBrush(event.target.value));
  byId("class-filter").addEventListener("change", () => alone(filter));
  byId("state-filter").addEventListener("change", () => alone(filter));
  byId("rejecting").addEventListener("close", (event) => {
    const chosen = byId("radios").querySelector("input:checked");
    if (event.target.returnValue === "reject" && chosen) {
      decide("reject", { reason: chosen.value, note: byId("note").value.trim() });
    }
  });
  document.addEventListener("keydown", onKey);
  window.addEventListener("resize", () => stage.fit());
}

async function view(name) {
  byId("desk").hidden = name !== "desk";
  byId("agreement").hidden = name !== "agreement";
  say("");
  if (name === "agreement") {
    await alone(() => showAgreement(byId("pairs"), byId("open"), send, (last) => { desk.last = last; count(); }));
  }
}

async function start() {
  try {
    await enter("/enter");
    const state = await send("/api/state");
    desk.classes = state.classes;
    desk.reasons = state.reasons;
    desk.last = state.last;
    desk.items = state.items.map(([address, label, decision, reason]) => ({ address, label, decision, reason }));
    byId("who").textContent = `${state.data} · ${state.reviewer}`;
    fillButtons();
    fillFilters();
    connect();
    byId("desk").hidden = false;
    await filter();
  } catch (error) {
    const words = { 401: "Open the link that `snellen curate` printed for you.", 404: "This link is not known; ask for a new one." };
    say(words[error.status] || error.message, true);
  }
}

start();
