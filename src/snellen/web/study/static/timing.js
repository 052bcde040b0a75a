// Time as a laboratory expects it: frames of the screen, pictures shown for a number of them, time away.
"use strict";

export const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// The median time between two frames in ms.
export async function framePeriod(count = 40) {
  const gaps = [];
  let last = await frame();
  for (let number = 0; number < count; number += 1) {
    const now = await frame();
    gaps.push(now - last);
    last = now;
  }
  gaps.sort((a, b) => a - b);
  return gaps[Math.floor(gaps.length / 2)];
}

// Draw in one frame, and hide `frames` frames later. The times of both, and how many frames came too late between them: a gap of
// about two periods is one. With 0 frames nothing is hidden.
export async function expose(draw, hide, frames, period) {
  const onset = await frame();
  draw();
  let last = onset;
  let late = 0;
  for (let number = 0; number < frames; number += 1) {
    const now = await frame();
    late += Math.max(0, Math.round((now - last) / period) - 1);
    last = now;
  }
  if (frames) {
    hide();
  }
  return { onset, offset: frames ? last : null, late };
}

// Adds up the time for which the page is hidden or another window has the keys.
export class Away {
  constructor() {
    this.total = 0;
    this.since = null;
    this.controller = new AbortController();
    const options = { signal: this.controller.signal };
    window.addEventListener("blur", () => this.leave(), options);
    window.addEventListener("focus", () => this.come(), options);
    document.addEventListener("visibilitychange", () => (document.hidden ? this.leave() : this.come()), options);
  }

  leave() {
    this.since ??= performance.now();
  }

  come() {
    if (this.since !== null) {
      this.total += performance.now() - this.since;
      this.since = null;
    }
  }

  // The sum so far; nothing is added later.
  end() {
    this.come();
    this.controller.abort();
    return this.total;
  }
}
