// What the pages of all apps share: coming in by a personal link, and JSON that carries the session's CSRF token.
"use strict";

let csrf = "";

export class Refused extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

// Send JSON (or fetch, without a body) and return the JSON of the answer. Throws Refused for a refusal and TypeError
// or a TimeoutError where the network is gone, as fetch does.
export async function call(path, body) {
  const options = { credentials: "same-origin", headers: { accept: "application/json" }, signal: AbortSignal.timeout(20000) };
  if (body !== undefined) {
    options.method = "POST";
    options.headers["content-type"] = "application/json";
    options.headers["x-csrf-token"] = csrf;
    options.body = JSON.stringify(body);
  }
  const response = await fetch(path, options);
  const text = await response.text();
  let value = {};
  try {
    value = text ? JSON.parse(text) : {};
  } catch {
    value = { error: "the server's answer could not be read" };
  }
  if (!response.ok) {
    throw new Refused(response.status, value.error || String(response.status));
  }
  if (value.csrf) {
    csrf = value.csrf;
  }
  return value;
}

// Post the token behind # to `path`, then take it out of the address bar and the history. False where there is none.
export async function enter(path) {
  const token = location.hash.slice(1);
  if (!token) {
    return false;
  }
  await call(path, { token });
  history.replaceState(null, "", location.pathname + location.search);
  return true;
}

// A refusal as a sentence of a page: `not found` → `Not found.`
export function sentence(text) {
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.?!…]$/.test(text) ? "" : ".");
}

// Shorthand: an element with attributes and children; strings become text, never HTML.
export function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) {
      node.addEventListener(key.slice(2), value);
    } else if (value !== false && value !== null && value !== undefined) {
      node.setAttribute(key, value === true ? "" : value);
    }
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}
