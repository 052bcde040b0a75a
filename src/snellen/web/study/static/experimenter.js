// The experimenter's page: how far the study is, every five seconds.
"use strict";

import { call, element, enter, sentence } from "./web.js";

const at = (id) => document.getElementById(id);
const tell = (error) => (at("reason").textContent = sentence(error.message));
const share = (value) => (value === null ? "–" : `${Math.round(value * 100)} %`);

async function update() {
  const progress = await call("/experimenter/progress");
  const { invited, active, done, withdrawn } = progress.states;
  at("title").textContent = progress.title;
  at("summary").textContent =
    `${done} done, ${active} on their way, ${invited} invited, ${withdrawn} withdrawn. ` +
    `${progress.answers} answers, ${progress.fewest} to ${progress.most} for each of ${progress.images} images.`;
  at("people").replaceChildren(
    ...progress.people.map((person) =>
      element(
        "tr",
        {},
        element("td", {}, person.observer),
        element("td", {}, person.state),
        element("td", {}, `${person.answered} of ${person.total}`),
        element("td", {}, person.catch_total ? `${person.catch_right} of ${person.catch_total}` : "–"),
        element("td", {}, person.median_ms === null ? "–" : `${Math.round(person.median_ms)} ms`),
        element("td", {}, share(person.late_share)),
      ),
    ),
  );
  at("progress").hidden = false;
  at("reason").textContent = "";
}

async function main() {
  try {
    await enter("/experimenter/enter");
    await update();
  } catch (error) {
    tell(error);
  }
  setInterval(() => update().catch(tell), 5000);
}

main();
