// A participant's page. The server knows where a person is; the page shows it, and moves on when an answer is confirmed.
"use strict";

import { Away, expose, framePeriod, frame, pause } from "./timing.js";
import { Picture, load, scaleFor } from "./picture.js";
import { Refused, call, element, enter, sentence } from "./web.js";

const facts = JSON.parse(document.body.dataset.facts);
const KEYS = "123456789abcdefghijklmnopqrstuvwxyz";
const CARD_MM = { across: 85.6, upright: 53.98 };
const TELEPHONE = 480; // CSS pixels; on less a bank card does not fit across
const at = (id) => document.getElementById(id);

let state = null;
let period = 1000 / 60;
let pixelsPerMm = null;
let onKey = null; // what keys do in the present trial
const loaded = new Map(); // trial → promise of its pictures

function show(id, focus) {
  for (const section of document.querySelectorAll("main > section")) {
    section.hidden = section.id !== id;
  }
  if (focus) {
    at(focus).focus({ preventScroll: true });
  }
}

function notice(text) {
  at("notice").hidden = !text;
  at("notice").textContent = text;
}

function refuse(text) {
  onKey = null;
  at("reason").textContent = sentence(text);
  show("refused");
}

const click = (id) => new Promise((resolve) => at(id).addEventListener("click", resolve, { once: true }));

// ---- what must not be lost

// Where this person's answer waits; another one at the same computer has another place.
const pendingPlace = () => `snellen-study-${facts.id}-${state.csrf.slice(0, 16)}`;

function readPending() {
  try {
    return JSON.parse(localStorage.getItem(pendingPlace()));
  } catch {
    return null;
  }
}

function keepPending(body) {
  try {
    if (body) {
      localStorage.setItem(pendingPlace(), JSON.stringify(body));
    } else {
      localStorage.removeItem(pendingPlace());
    }
  } catch {
    // without storage an answer waits in this page alone
  }
}

const backOnline = () => new Promise((resolve) => window.addEventListener("online", resolve, { once: true }));

// Try until the server has answered. A refusal is thrown; without a connection it waits and says so.
async function insist(attempt, text) {
  for (let wait = 500; ; wait = Math.min(wait * 2, 8000)) {
    try {
      const value = await attempt();
      notice("");
      return value;
    } catch (error) {
      const temporary = !(error instanceof Refused) || error.status >= 500 || error.status === 429 || error.status === 408;
      if (!temporary) {
        notice("");
        throw error;
      }
      notice(text);
      await Promise.race([pause(wait), backOnline()]);
    }
  }
}

const OFFLINE = "No connection. Nothing was erased; try again.";
const LOST = "No connection. What you answered is kept here and sent as soon as there is one; you need not do anything.";

async function send(body) {
  keepPending(body);
  let next;
  try {
    next = await insist(() => call("/api/answer", body), LOST);
  } catch (error) {
    if (error.status === 401) {
      throw error; // it waits until they have come in again
    }
    next = await insist(() => call("/api/state"), LOST); // another tab has answered it, or its turn is later
  }
  keepPending(null);
  return next;
}

function randomKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// ---- one trial

function picturesOf(trial) {
  if (!loaded.has(trial.trial)) {
    const promise = load(trial.pictures);
    promise.catch(() => loaded.delete(trial.trial)); // and try again when it is needed
    loaded.set(trial.trial, promise);
  }
  return loaded.get(trial.trial);
}

function place(trial, images) {
  const room = document.querySelector("main").clientWidth - 32;
  const scale = scaleFor(trial, facts.scale, room);
  const pictures = images.map((image, number) => new Picture(image, trial, scale, facts.captions[number]));
  at("pictures").replaceChildren(...pictures.map((picture) => picture.node));
  return pictures;
}

function head() {
  at("progress").max = Math.max(state.total, 1);
  at("progress").value = state.done;
  at("count").textContent = state.current.practice ? "Practice" : `${state.done} of ${state.total}`;
}

function ask(text) {
  at("question").textContent = text;
}

// Show the picture as the protocol has it; the times are those of performance.now().
async function present(trial, pictures) {
  const begin = await frame();
  if (facts.timed) {
    ask("Look at the middle");
    pictures.forEach((picture) => picture.mark("cross"));
    await pause(facts.fixation_ms);
    pictures.forEach((picture) => picture.unmark("cross"));
  }
  const draw = () => {
    pictures.forEach((picture) => picture.draw());
    if (facts.cross) {
      pictures.forEach((picture) => picture.mark("cross"));
    }
  };
  const hide = () => pictures.forEach((picture) => (facts.mask_ms ? picture.noise() : picture.blank()));
  const times = await expose(draw, hide, facts.timed ? facts.frames : 0, period);
  return { begin, ...times };
}

// The answers on offer under a name, as buttons with their keys.
function offer(names, choose) {
  at("choices").replaceChildren(
    ...names.map((name, number) =>
      element(
        "button",
        { type: "button", "data-name": name, "aria-keyshortcuts": KEYS[number], onclick: (event) => choose(name, how(event)) },
        element("kbd", { "aria-hidden": "true" }, KEYS[number]),
        element("span", {}, facts.labels[name]),
      ),
    ),
  );
}

function how(event) {
  if (event.type === "keydown" || event.detail === 0) {
    return "keys";
  }
  return ["touch", "pen"].includes(event.pointerType) ? event.pointerType : "mouse";
}

// Lead through the questions to an answer; `Back` undoes one step.
function answered(picture) {
  return new Promise((resolve) => {
    const steps = [];
    const choose = (name, input) => {
      steps.push(name);
      if (facts.nodes[name]) {
        question();
      } else if (facts.click) {
        pick(input);
      } else {
        finish({ input });
      }
    };
    const back = () => {
      if (steps.length) {
        steps.pop();
        question();
      }
    };
    const question = () => {
      stopPicking(picture);
      const name = steps.at(-1) ?? "";
      ask(name ? sentence(`${facts.labels[name]}: which kind?`) : facts.question);
      offer(facts.nodes[name], choose);
      at("back").hidden = !steps.length;
      onKey = (event) => {
        const number = KEYS.indexOf(event.key.toLowerCase());
        if (number >= 0 && number < facts.nodes[name].length) {
          choose(facts.nodes[name][number], "keys");
        } else if (event.key === "Backspace" || event.key === "Escape") {
          back();
        }
      };
      at("question").focus({ preventScroll: true });
      if (facts.timed && facts.frames) {
        at("question").scrollIntoView(); // the picture is gone, and the answers may not fit below its place
      }
    };
    const pick = () => {
      ask(`Click on the ${facts.labels[steps.at(-1)]} that you meant`);
      at("choices").replaceChildren(element("p", { class: "quiet hint" }, "Or move the yellow cross with the arrow keys, and press Enter."));
      at("back").hidden = false;
      onKey = startPicking(picture, (point, input) => finish({ ...point, input }), back);
      at("question").focus({ preventScroll: true });
    };
    const finish = (rest) => {
      onKey = null;
      stopPicking(picture);
      at("back").onclick = null;
      resolve({ answer: steps.at(-1), steps, time: performance.now(), ...rest });
    };
    at("back").onclick = back;
    question();
  });
}

// Take one click on the picture, or Enter at a cross that the arrow keys move (Shift: ten pixels).
function startPicking(picture, done, back) {
  let x = picture.width / 2;
  let y = picture.height / 2;
  picture.frame.classList.add("clickable");
  picture.canvas.onclick = (event) => done(picture.at(event), how(event));
  return (event) => {
    const step = event.shiftKey ? 10 : 1;
    const move = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] }[event.key];
    if (move) {
      event.preventDefault();
      x = Math.min(Math.max(x + move[0], 0.5), picture.width - 0.5);
      y = Math.min(Math.max(y + move[1], 0.5), picture.height - 0.5);
      picture.mark("aim", x, y);
    } else if (event.key === "Enter") {
      event.preventDefault();
      done({ x, y }, "keys");
    } else if (event.key === "Backspace" || event.key === "Escape") {
      back();
    }
  };
}

function stopPicking(picture) {
  picture.frame.classList.remove("clickable");
  picture.canvas.onclick = null;
  picture.unmark("aim");
}

// Carry out one trial; the body of its answer.
async function carryOut(trial) {
  const images = await insist(() => fetched(trial), "No connection. The next picture is fetched as soon as there is one.");
  if (!images) {
    return null;
  }
  head();
  at("choices").replaceChildren();
  at("back").hidden = true;
  show("trial", "question");
  const pictures = place(trial, images);
  window.scrollTo(0, 0);
  pictures.forEach((picture) => picture.align());
  const away = new Away();
  const times = await present(trial, pictures);
  if (state.following) {
    picturesOf(state.following).catch(() => null); // decoded before its turn
  }
  if (facts.timed && facts.frames && facts.mask_ms) {
    await pause(facts.mask_ms);
    pictures.forEach((picture) => picture.blank());
  }
  const reply = await answered(pictures[0]);
  const gone = away.end();
  loaded.delete(trial.trial);
  return {
    trial: trial.trial,
    key: randomKey(),
    answer: reply.answer,
    steps: reply.steps,
    response_ms: Math.max(0, reply.time - times.onset - gone),
    onset_ms: times.onset - times.begin,
    exposure_ms: times.offset === null ? null : times.offset - times.onset,
    late_frames: times.late,
    away_ms: gone,
    scale: pictures[0].scale,
    shown_at: performance.timeOrigin + times.onset,
    input: reply.input,
    x: reply.x ?? null,
    y: reply.y ?? null,
  };
}

// The decoded pictures; null where another tab has answered this trial meanwhile.
async function fetched(trial) {
  try {
    return await picturesOf(trial);
  } catch {
    state = await call("/api/state");
    if (state.current?.trial !== trial.trial) {
      return null;
    }
    throw new TypeError("the picture was not fetched");
  }
}

async function trials() {
  while (state.phase === "trials") {
    const body = await carryOut(state.current);
    if (!body) {
      continue;
    }
    state = await send(body);
    if (facts.breaks && state.current && state.done % facts.breaks === 0) {
      at("so-far").textContent = `You have seen ${state.done} of ${state.total} pictures. Go on when you like.`;
      show("break", "go-on");
      await click("go-on");
    }
  }
}

// ---- before and after

async function measureCard() {
  const upright = window.innerWidth < TELEPHONE;
  show("card", "width");
  at("frame").classList.toggle("upright", upright);
  at("upright").hidden = !upright;
  at("width").max = at("card").clientWidth;
  at("width").value = at("frame").offsetWidth;
  at("width").addEventListener("input", () => {
    at("frame").style.width = `${at("width").value}px`;
  });
  await Promise.race([
    click("fits").then(() => {
      pixelsPerMm = Number(at("width").value) / CARD_MM[upright ? "upright" : "across"];
    }),
    click("without"),
  ]);
}

async function measureScreen() {
  period = await framePeriod();
  const screen = {
    width: window.innerWidth,
    height: window.innerHeight,
    pixel_ratio: window.devicePixelRatio,
    refresh_hz: Math.round(100000 / period) / 100,
    touch: navigator.maxTouchPoints > 0,
  };
  if (pixelsPerMm) {
    screen.pixels_per_mm = pixelsPerMm;
  }
  state = await insist(() => call("/api/screen", screen), LOST);
}

function finish() {
  onKey = null;
  if (state.completion.startsWith("https://")) {
    at("return-link").href = state.completion;
    at("return").hidden = false;
  } else if (state.completion) {
    at("completion-code").textContent = state.completion;
    at("completion").hidden = false;
  }
  show("done");
}

async function comeIn() {
  if (await enter("/api/enter")) {
    return;
  }
  const query = new URLSearchParams(location.search);
  if (facts.recruit && query.get("PROLIFIC_PID")) {
    const ids = ["PROLIFIC_PID", "STUDY_ID", "SESSION_ID"].map((name) => [name, query.get(name) ?? ""]);
    await call("/api/arrive", Object.fromEntries(ids));
    history.replaceState(null, "", location.pathname);
  }
}

async function main() {
  try {
    await insist(comeIn, "No connection. The page goes on as soon as there is one.");
    state = await insist(() => call("/api/state"), "No connection. The page goes on as soon as there is one.");
    const pending = readPending();
    if (pending) {
      state = await send(pending);
    }
    if (state.phase === "consent") {
      show("consent", "agree");
      await click("agree");
      state = await insist(() => call("/api/consent", { agreed: true }), LOST);
    }
    if (state.phase === "trials") {
      if (!state.screen_known && facts.card) {
        await measureCard();
      }
      await measureScreen();
      document.querySelectorAll("[data-code]").forEach((node) => node.replaceChildren(state.withdrawal));
      if (state.done === 0) {
        show("instructions", "begin");
        await click("begin");
      }
      await trials();
    }
    document.querySelectorAll("[data-code]").forEach((node) => node.replaceChildren(state.withdrawal));
    finish();
  } catch (error) {
    refuse(error instanceof Refused ? error.message : "Something went wrong on this page. Load it again; nothing is lost.");
    throw error;
  }
}

document.addEventListener("keydown", (event) => {
  const typing = event.target instanceof HTMLInputElement;
  if (onKey && !event.ctrlKey && !event.altKey && !event.metaKey && !event.repeat && !typing) {
    if (event.key === "Backspace") {
      event.preventDefault();
    }
    onKey(event);
  } else if (onKey && event.repeat && event.key.startsWith("Arrow")) {
    onKey(event);
  }
});

document.querySelectorAll("[data-show]").forEach((button) => {
  button.addEventListener("click", () => {
    at("keep").dataset.back = button.closest("section").id;
    show(button.dataset.show, "code");
  });
});

at("keep").addEventListener("click", () => show(at("keep").dataset.back));

at("withdraw-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    await call("/api/withdraw", { code: at("code").value });
    if (state) {
      keepPending(null);
    }
    at("withdraw-form").hidden = true;
    at("withdraw-result").textContent = "Your answers are erased.";
  } catch (error) {
    at("withdraw-result").textContent = error instanceof Refused ? sentence(error.message) : OFFLINE;
  }
});

main();
