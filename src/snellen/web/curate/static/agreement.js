// How far reviewers agree, and the images they judge differently, of which one review is chosen to count.
"use strict";

import { element } from "./web.js";

const MOST = 100; // images shown at once

export async function showAgreement(pairs, open, send, chosen) {
  fill(await send("/api/agreement"));

  function fill(facts) {
    pairs.replaceChildren(facts.pairs.length ? table(facts.pairs) : "Two reviewers must have decided the same images.");
    open.replaceChildren(...facts.open.slice(0, MOST).map(differing));
    if (!facts.open.length) {
      open.append(element("p", {}, `None. ${facts.settled === 1 ? "1 image is" : `${facts.settled} images are`} settled.`));
    } else if (facts.open.length > MOST) {
      open.append(element("p", {}, `… and ${facts.open.length - MOST} more`));
    }
  }

  function differing(image) {
    const picture = element("img", { alt: image.id });
    const row = element("div", { class: "differing" }, picture, element("div", {}, element("p", {}, image.id), ...image.reviews.map(
      (review) => element("button", { type: "button", onclick: () => choose(image, review) }, `${review.reviewer}: ${words(review)}`),
    )));
    send(`/api/item/${image.item}`).then((facts) => {
      if (facts.image) {
        picture.src = `/picture/${facts.image}`;
      }
    });
    return row;
  }

  async function choose(image, review) {
    const attempt = crypto.getRandomValues(new Uint32Array(4)).join("-");
    const facts = await send("/api/choose", { item: image.item, attempt, number: review.number });
    chosen(facts.last);
    fill(facts);
  }
}

function words(review) {
  const verb = { accept: "accept", mend: "accept with the box or mask mended", reject: "reject" }[review.decision];
  return [verb, review.reason, review.note].filter(Boolean).join(", ");
}

function number(value) {
  return value === null ? "–" : value.toFixed(2);
}

function table(pairs) {
  const head = ["reviewers", "images", "alike", "kappa", "95% interval"].map((text) => element("th", { scope: "col" }, text));
  const rows = pairs.map((pair) =>
    element("tr", {},
      element("td", {}, `${pair.first}, ${pair.second}`), element("td", {}, String(pair.images)),
      element("td", {}, `${Math.round(100 * pair.observed)}%`), element("td", {}, number(pair.kappa)),
      element("td", {}, `${number(pair.low)} … ${number(pair.high)}`)));
  const note = "Kappa is 1 where both always decide alike and 0 where they do so as often as by chance; – where it is not defined.";
  return element("div", { class: "table" }, element("table", {}, element("tr", {}, ...head), ...rows), element("p", { class: "quiet" }, note));
}
