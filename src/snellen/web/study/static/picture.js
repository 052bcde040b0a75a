// Pictures on the screen: whole device pixels per pixel, nothing smoothed, a cross at the centre, clicks in pixels of the picture.
"use strict";

import { element } from "./web.js";

const CROSS = 21; // CSS pixels
const LARGEST = 8;

// Load and decode the pictures of a trial; the promise fails where one cannot be fetched.
export function load(paths) {
  return Promise.all(
    paths.map(async (path) => {
      const image = new Image();
      image.src = path;
      await image.decode();
      return image;
    }),
  );
}

// Device pixels per pixel: the one that the study fixes, else the largest whole number that fits.
export function scaleFor(trial, fixed, room) {
  if (fixed) {
    return fixed;
  }
  const ratio = window.devicePixelRatio;
  const side = room >= 2 * (trial.width / ratio) + 16 ? trial.pictures.length : 1;
  const wide = ((room - 16 * (side - 1)) / side) * ratio;
  const high = window.innerHeight * 0.55 * ratio;
  return Math.max(1, Math.min(LARGEST, Math.floor(wide / trial.width), Math.floor(high / trial.height)));
}

// One picture's place: a grey canvas until `draw`.
export class Picture {
  constructor(image, trial, scale, caption) {
    this.image = image;
    this.scale = scale;
    this.width = trial.width;
    this.height = trial.height;
    const ratio = window.devicePixelRatio;
    this.canvas = element("canvas", { width: trial.width * scale, height: trial.height * scale, role: "img" });
    this.canvas.setAttribute("aria-label", caption ? `picture, ${caption}` : "picture");
    this.canvas.style.width = `${(trial.width * scale) / ratio}px`;
    this.canvas.style.height = `${(trial.height * scale) / ratio}px`;
    this.context = this.canvas.getContext("2d");
    this.context.imageSmoothingEnabled = false;
    this.frame = element("div", { class: "picture" }, this.canvas);
    this.node = element("figure", {}, this.frame, caption ? element("figcaption", {}, caption) : null);
  }

  // Move the canvas onto the grid of device pixels, so that the screen shows each of its pixels as it is. Where a CSS pixel is a
  // whole number of them, onto that of CSS pixels, to which browsers may round.
  align() {
    const ratio = Number.isInteger(window.devicePixelRatio) ? 1 : window.devicePixelRatio;
    const box = this.canvas.getBoundingClientRect();
    const off = (value) => (Math.round(value * ratio) - value * ratio) / ratio;
    this.frame.style.left = `${off(box.left + window.scrollX)}px`; // not a transform, which is added after rounding
    this.frame.style.top = `${off(box.top + window.scrollY)}px`;
  }

  draw() {
    this.context.drawImage(this.image, 0, 0, this.canvas.width, this.canvas.height);
  }

  blank() {
    this.context.clearRect(0, 0, this.canvas.width, this.canvas.height);
  }

  // Random colours, pixel by pixel of the picture.
  noise() {
    const small = new OffscreenCanvas(this.width, this.height);
    const pixels = new ImageData(this.width, this.height);
    for (let place = 0; place < pixels.data.length; place += 1) {
      pixels.data[place] = place % 4 === 3 ? 255 : Math.floor(Math.random() * 256);
    }
    small.getContext("2d").putImageData(pixels, 0, 0);
    this.context.drawImage(small, 0, 0, this.canvas.width, this.canvas.height);
  }

  // A cross whose middle is at (x, y) in pixels of the picture.
  mark(name, x = this.width / 2, y = this.height / 2) {
    this.unmark(name);
    const ratio = window.devicePixelRatio;
    const cross = element("div", { class: name, "aria-hidden": "true" });
    cross.style.left = `${(x * this.scale) / ratio - CROSS / 2}px`;
    cross.style.top = `${(y * this.scale) / ratio - CROSS / 2}px`;
    this.frame.append(cross);
  }

  unmark(name) {
    this.frame.querySelectorAll(`.${name}`).forEach((node) => node.remove());
  }

  // Where an event happened, in pixels of the picture.
  at(event) {
    const box = this.canvas.getBoundingClientRect();
    const inside = (value, size) => Math.min(Math.max(value, 0), size - 0.001);
    return {
      x: inside(((event.clientX - box.left) / box.width) * this.width, this.width),
      y: inside(((event.clientY - box.top) / box.height) * this.height, this.height),
    };
  }
}
