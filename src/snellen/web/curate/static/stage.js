// The large picture: the image at whole multiples of its pixels, its mask over it, its box, and what is painted while mending.
"use strict";

const GRIP = 12; // pixels on the screen within which an edge of the box is taken hold of
const COLOURS = { mask: [255, 0, 150, 80], box: "#ffd400", object: "#00d0ff", ground: "#ff5a36", edge: "#101418" };

export class Stage {
  constructor(frame, canvas, attempt) {
    this.frame = frame;
    this.canvas = canvas;
    this.attempt = attempt; // (box, strokes) → the box and mask that come of them, null where that failed
    this.times = 1;
    this.overlay = true;
    this.mending = false;
    this.tool = "box";
    this.width = 5;
    this.facts = null;
    this.box = null;
    this.strokes = [];
    this.segmented = false;
    this.working = Promise.resolve(true);
    canvas.addEventListener("pointerdown", (event) => this.press(event));
    canvas.addEventListener("pointermove", (event) => this.drag(event));
    canvas.addEventListener("pointerup", (event) => this.release(event));
    canvas.addEventListener("pointercancel", () => { this.held = null; });
  }

  open(facts) {
    this.facts = facts;
    this.box = [...facts.box];
    this.setMask(facts.mask);
    this.strokes = [];
    this.fit();
  }

  clear() {
    this.facts = null;
    this.canvas.width = this.canvas.height = 1;
  }

  setMask(runs) {
    const { width, height } = this.facts;
    const layer = document.createElement("canvas");
    layer.width = width;
    layer.height = height;
    const image = layer.getContext("2d").createImageData(width, height);
    const mask = new Uint8Array(width * height);
    let start = 0;
    runs.forEach((length, number) => {
      mask.fill(number % 2, start, start + length);
      start += length;
    });
    for (let place = 0; place < mask.length; place += 1) {
      if (mask[place]) {
        image.data.set(COLOURS.mask, place * 4);
        const column = place % width;
        const inner = mask[place - width] && mask[place + width] && column && column < width - 1 && mask[place - 1] && mask[place + 1];
        image.data[place * 4 + 3] = inner ? COLOURS.mask[3] : 255; // its rim is solid: a tint alone is lost on some colours
      }
    }
    layer.getContext("2d").putImageData(image, 0, 0);
    this.layer = layer;
  }

  fit() {
    if (!this.facts) {
      return;
    }
    const { width, height } = this.facts;
    const [wide, high] = [this.frame.clientWidth, Math.max(200, window.innerHeight * 0.45)];
    const ratio = Math.min(wide / width, high / height);
    this.scale = (ratio >= 1 ? Math.floor(ratio) : ratio) * this.times;
    this.canvas.width = Math.round(width * this.scale);
    this.canvas.height = Math.round(height * this.scale);
    this.draw();
  }

  zoom() {
    this.times = this.times === 4 ? 1 : this.times * 2;
    this.fit();
  }

  toggleOverlay() {
    this.overlay = !this.overlay;
    this.draw();
    return this.overlay;
  }

  draw() {
    if (!this.facts) {
      return;
    }
    const pen = this.canvas.getContext("2d");
    const { width, height } = this.canvas;
    pen.imageSmoothingEnabled = this.scale < 1;
    pen.drawImage(this.facts.picture, 0, 0, width, height);
    if (this.overlay || this.mending) {
      pen.drawImage(this.layer, 0, 0, width, height);
      this.drawBox(pen);
    }
    for (const stroke of this.strokes) {
      this.drawStroke(pen, stroke);
    }
  }

  drawBox(pen) {
    const [x0, y0, x1, y1] = this.box.map((value) => value * this.scale);
    pen.setLineDash([]);
    for (const [colour, wide] of [[COLOURS.edge, 4], [COLOURS.box, 2]]) {
      pen.strokeStyle = colour;
      pen.lineWidth = wide;
      pen.strokeRect(x0 + 1, y0 + 1, x1 - x0 - 2, y1 - y0 - 2);
    }
  }

  drawStroke(pen, stroke) {
    pen.strokeStyle = stroke.object ? COLOURS.object : COLOURS.ground;
    pen.globalAlpha = 0.75;
    pen.lineWidth = stroke.width * this.scale;
    pen.lineCap = pen.lineJoin = "round";
    pen.beginPath();
    const [x, y] = stroke.points;
    pen.moveTo(x * this.scale, y * this.scale);
    for (let at = 2; at < stroke.points.length; at += 2) {
      pen.lineTo(stroke.points[at] * this.scale, stroke.points[at + 1] * this.scale);
    }
    pen.lineTo(stroke.points[stroke.points.length - 2] * this.scale + 0.01, stroke.points[stroke.points.length - 1] * this.scale);
    pen.stroke();
    pen.globalAlpha = 1;
  }

  // Begin to mend; what was painted in an earlier decision about the image is there again.
  mend(review) {
    this.mending = true;
    const painted = review && review.strokes;
    this.strokes = painted ? painted.map((stroke) => ({ ...stroke, points: [...stroke.points] })) : [];
    this.segmented = Boolean(painted);
    this.working = Promise.resolve(true);
    this.frame.classList.add("mending");
    this.draw();
  }

  // End mending: the picture shows again what is stored.
  close() {
    if (this.mending) {
      this.mending = false;
      this.frame.classList.remove("mending");
      this.open(this.facts);
    }
  }

  strokesToSend() {
    return this.segmented ? this.strokes : null;
  }

  // Whether what is shown is what would be kept, once nothing is under way.
  settled() {
    return this.working;
  }

  segment() {
    this.segmented = true;
    return this.preview();
  }

  clearStrokes() {
    this.strokes = [];
    this.segmented = false;
    this.draw();
    return this.preview(); // the stored mask, also where an earlier decision mended it
  }

  preview() {
    const facts = this.facts;
    this.working = this.attempt(this.box, this.strokesToSend()).then((outcome) => {
      if (outcome && this.mending && this.facts === facts) {
        this.box = [...outcome.box];
        this.setMask(outcome.mask);
        this.draw();
      }
      return outcome !== null;
    });
    return this.working;
  }

  moveBox([across, down], edge) {
    const [x0, y0, x1, y1] = this.box;
    this.setBox(edge ? [x0, y0, x1 + across, y1 + down] : [x0 + across, y0 + down, x1 + across, y1 + down]);
  }

  setBox(box) {
    const { width, height } = this.facts;
    const [x0, y0, x1, y1] = box.map(Math.round);
    if (x0 >= 0 && y0 >= 0 && x1 <= width && y1 <= height && x1 > x0 && y1 > y0) {
      this.box = [x0, y0, x1, y1];
      this.draw();
    }
  }

  at(event) {
    const rectangle = this.canvas.getBoundingClientRect();
    const { width, height } = this.facts;
    const x = ((event.clientX - rectangle.left) / rectangle.width) * width;
    const y = ((event.clientY - rectangle.top) / rectangle.height) * height;
    return [Math.max(0, Math.min(width, x)), Math.max(0, Math.min(height, y))];
  }

  press(event) {
    if (!this.mending || !this.facts) {
      return;
    }
    event.preventDefault();
    this.canvas.setPointerCapture(event.pointerId);
    const place = this.at(event);
    if (this.tool === "box") {
      this.held = this.grip(place);
    } else {
      const points = place.map((value) => Math.round(value * 10) / 10);
      this.strokes.push({ object: this.tool === "object", width: this.width, points });
      this.held = { stroke: this.strokes[this.strokes.length - 1] };
      this.draw();
    }
  }

  // What of the box is taken hold of: edges near the pointer, the whole of it from inside, or a new one from outside.
  grip([x, y]) {
    const near = Math.max(0.5, GRIP / this.scale);
    const [x0, y0, x1, y1] = this.box;
    const within = x > x0 - near && x < x1 + near && y > y0 - near && y < y1 + near;
    const edges = [Math.abs(x - x0) < near, Math.abs(y - y0) < near, Math.abs(x - x1) < near, Math.abs(y - y1) < near];
    if (within && edges.some(Boolean)) {
      if (edges[0] && edges[2]) {
        edges[Math.abs(x - x0) < Math.abs(x - x1) ? 2 : 0] = false;
      }
      if (edges[1] && edges[3]) {
        edges[Math.abs(y - y0) < Math.abs(y - y1) ? 3 : 1] = false;
      }
      return { edges };
    }
    if (within) {
      return { from: [x, y], box: [...this.box] };
    }
    return { corner: [x, y] };
  }

  drag(event) {
    if (!this.held) {
      return;
    }
    const [x, y] = this.at(event);
    const { stroke, edges, from, box, corner } = this.held;
    if (stroke) {
      const count = stroke.points.length;
      const moved = Math.hypot(x - stroke.points[count - 2], y - stroke.points[count - 1]);
      if (moved >= Math.max(0.7, stroke.width / 4) && count < 4000) {
        stroke.points.push(Math.round(x * 10) / 10, Math.round(y * 10) / 10);
        this.draw();
      }
    } else if (edges) {
      this.setBox(this.box.map((value, side) => (edges[side] ? (side % 2 ? y : x) : value)));
    } else if (from) {
      const [across, down] = [Math.round(x - from[0]), Math.round(y - from[1])];
      this.setBox([box[0] + across, box[1] + down, box[2] + across, box[3] + down]);
    } else if (corner) {
      this.setBox([Math.min(x, corner[0]), Math.min(y, corner[1]), Math.max(x, corner[0]), Math.max(y, corner[1])]);
    }
  }

  release() {
    const painted = this.held && this.held.stroke;
    const moved = this.held && !painted;
    this.held = null;
    if (painted || (moved && this.segmented)) {
      this.segment();
    }
  }
}
