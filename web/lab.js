// The laboratory's pictures: the plane of a batch's gradients, the U over log C, and the
// plane of the data. Go decides what is drawn (ui/lab), this file only how; it hands back
// the C to which a hand has moved the threshold.
import { enlarged, ink, pathFor, repainted, savables, stringify } from "./charts.js";
/** @import { Band, Boundary, Ink, LabLook, Mean, Pen, Placed, PlaneSpec, Savable, Table, ULine, USpec } from "./types.d.ts" */

const size = 12; // of text
const font = `${size}px system-ui, sans-serif`;
const number = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
/** @param {number} v */
function short(v) {
  if (v === 0 || v >= 1e-3 && v < 1e5) return number.format(v);
  return v.toExponential().replace("e+", "e").replace("-", "−");
}

// decades are the powers of ten from one to another.
/** @param {number} lo @param {number} hi */
function decades(lo, hi) {
  const first = Math.round(Math.log10(lo)), last = Math.round(Math.log10(hi));
  return Array.from({ length: Math.max(last - first + 1, 0) }, (_, i) => Number("1e" + (first + i)));
}

/** @type {Set<Board>} that are to be drawn in the coming frame */
const due = new Set();
/** @type {Set<Board>} */
const boards = new Set();
let frame = 0;
function flush() {
  cancelAnimationFrame(frame);
  frame = 0;
  for (const b of due) b.paint();
  due.clear();
}
repainted(() => boards.forEach((b) => b.later()));

const GRIP = 9; // is its radius

// Texts beside each other are so far apart, or they read as one.
const APART = 8;

// Board is a canvas that is drawn at most once a frame.
class Board {
  width = 0;
  height = 0;
  scale = 1; // CSS pixels of one here: more while the page is presented
  /** @type {{ x: number, y: number, w: number, h: number }[]} */
  taken = []; // by labels
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    /** @type {Pen} */
    this.pen = this.context; // what is drawn with: another one while a picture is saved
    this.sizes = new ResizeObserver(() => this.later());
    this.sizes.observe(canvas);
    boards.add(this);
  }
  later() {
    due.add(this);
    frame ||= requestAnimationFrame(flush);
  }
  paint() {
    const { canvas, context: g } = this, { clientWidth: w, clientHeight: h } = canvas, ratio = devicePixelRatio || 1;
    if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
      [canvas.width, canvas.height] = [Math.round(w * ratio), Math.round(h * ratio)];
    }
    this.scale = enlarged();
    [this.width, this.height] = [w / this.scale, h / this.scale];
    g.setTransform(ratio * this.scale, 0, 0, ratio * this.scale, 0, 0);
    g.clearRect(0, 0, w, h);
    if (w > 0 && h > 0) this.begin(g);
  }
  /** @param {Pen} g */
  begin(g) {
    Object.assign(g, { font, lineCap: "round", lineJoin: "round", textBaseline: "middle", globalAlpha: 1 });
    this.taken = [];
    this.draw(g);
  }
  /** @param {Pen} _g */
  draw(_g) {}
  release() {
    this.sizes.disconnect();
    boards.delete(this);
    due.delete(this);
  }

  // label writes a text near a point, where no other text stands.
  /** @param {string} text @param {number} x its left end @param {number} y its middle @param {Ink} colour */
  label(text, x, y, colour, bold = false) { this.write(this.put(text, x, y, colour, bold)); }

  // put finds a text its place, and write writes it there: apart, where something that is
  // drawn before the text keeps clear of it.
  /** @param {string} text @param {number} x @param {number} y @param {Ink} colour @returns {Placed} */
  put(text, x, y, colour, bold = false) {
    const g = this.pen;
    g.font = bold ? "600 " + font : font;
    const w = Math.min(g.measureText(text).width, this.width - 4), h = size + 4; // what is longer is made narrower
    g.font = font;
    x = Math.min(Math.max(x, 2), this.width - w - 2);
    const free = (/** @type {number} */ at) => at >= h / 2 && at <= this.height - h / 2 &&
      !this.taken.some((t) => x < t.x + t.w + APART && t.x < x + w + APART && at - h / 2 < t.y + t.h && t.y < at + h / 2);
    for (let step = 0; step < 24 && !free(y); step++) y += (step % 2 ? 1 : -1) * (step + 1) * h / 2;
    this.taken.push({ x, y: y - h / 2, w, h });
    return { text, x, y, w, colour, bold };
  }
  /** @param {Placed} text */
  write({ text, x, y, w, colour, bold }) {
    const g = this.pen;
    g.font = bold ? "600 " + font : font;
    Object.assign(g, { strokeStyle: ink("surface"), lineWidth: 4, fillStyle: ink(colour) });
    g.setLineDash([]);
    g.strokeText(text, x, y, w);
    g.fillText(text, x, y, w);
    g.font = font;
  }
}

// THUMB is how far from a grip a thumb may be that means it, in CSS pixels: half of 56.
const THUMB = 28;

// Threshold is a board on which C stands and is moved: by a pointer of any kind, by
// keys, as a slider.
class Threshold extends Board {
  c = 1;
  lo = 0.01;
  hi = 100;
  over = new AbortController();
  gripAt = [NaN, NaN];

  /** @param {HTMLCanvasElement} canvas @param {(c: number, settled: boolean) => void} moved */
  constructor(canvas, moved) {
    super(canvas);
    savables.set(canvas, /** @type {Threshold & Savable} */ (/** @type {unknown} */ (this))); // each board has the rest
    const { signal } = this.over;
    let next = NaN, waiting = 0, down = false, before = NaN;
    // A frame is told of the newest C alone, and shows it.
    const tell = (/** @type {boolean} */ settled) => {
      cancelAnimationFrame(waiting);
      waiting = 0;
      moved(next, settled);
      flush();
    };
    const place = (/** @type {{ clientX: number, clientY: number }} */ { clientX, clientY }) => {
      const box = canvas.getBoundingClientRect();
      return { x: (clientX - box.left) / this.scale, y: (clientY - box.top) / this.scale };
    };
    const held = (/** @type {PointerEvent} */ e) => {
      const { x, y } = place(e);
      next = this.within(this.at(x, y));
      waiting ||= requestAnimationFrame(() => tell(false));
    };
    canvas.addEventListener("pointerdown", (e) => {
      if (e.button !== 0) return;
      down = true;
      before = next = this.c;
      canvas.setPointerCapture(e.pointerId);
      canvas.focus({ preventScroll: true });
      e.preventDefault();
      if (e.pointerType !== "touch") held(e); // a finger may be about to scroll
    }, { signal });
    canvas.addEventListener("touchstart", (e) => { // on the grip it is no scrolling, whichever way it goes
      const { x, y } = place(e.touches[0]), [gripX, gripY] = this.gripAt;
      if (e.touches.length === 1 && Math.hypot(x - gripX, y - gripY) < THUMB) e.preventDefault();
    }, { passive: false, signal });
    canvas.addEventListener("pointermove", (e) => { if (down) held(e); }, { signal });
    canvas.addEventListener("pointerup", (e) => {
      if (!down) return;
      down = false;
      held(e);
      tell(true);
    }, { signal });
    canvas.addEventListener("pointercancel", () => { // it scrolls
      if (!down) return;
      down = false;
      if (next === before) return;
      next = before;
      tell(true);
    }, { signal });
    canvas.addEventListener("keydown", (e) => {
      const to = this.keyed(e);
      if (to === undefined) return;
      e.preventDefault();
      next = to;
      tell(true);
    }, { signal });
  }

  /** @param {number} c */
  within(c) { return Math.min(Math.max(c, this.lo), this.hi); }

  // A key's step is a 32nd of a decade, 7 %, and a large one a quarter.
  /** @param {KeyboardEvent} e */
  keyed(e) {
    if (e.ctrlKey || e.altKey || e.metaKey) return undefined;
    const by = (/** @type {number} */ decades) => this.within(this.c * 10 ** decades), small = e.shiftKey ? 1 / 4 : 1 / 32;
    switch (e.key) {
      case "ArrowRight": case "ArrowUp": return by(small);
      case "ArrowLeft": case "ArrowDown": return by(-small);
      case "PageUp": return by(1 / 4);
      case "PageDown": return by(-1 / 4);
      case "Home": return this.lo;
      case "End": return this.hi;
    }
    return undefined;
  }

  get called() { return `C = ${short(this.c)}`; }

  // at is the C that stands at a place.
  /** @param {number} _x @param {number} _y */
  at(_x, _y) { return this.c; }

  /** @param {number} c @param {string} text what it comes to */
  move(c, text) {
    this.c = c;
    for (const [name, value] of /** @type {[string, string | number][]} */ ([["min", this.lo], ["max", this.hi], ["now", c], ["text", text]])) {
      this.canvas.setAttribute("aria-value" + name, String(value));
    }
    this.later();
  }

  /** @param {Pen} g @param {number} x @param {number} y */
  grip(g, x, y) {
    this.gripAt = [x, y];
    g.beginPath();
    g.arc(x, y, GRIP, 0, 2 * Math.PI);
    Object.assign(g, { fillStyle: ink("text"), strokeStyle: ink("surface"), lineWidth: 2 });
    g.fill();
    g.stroke();
  }

  // --- what is saved of it, save.mjs: all comes from the rows without noise ---

  get released() { return false; }
  get covered() { return false; }
  size() { return { width: this.canvas.clientWidth, height: this.canvas.clientHeight }; }

  /** @param {Pen} g */
  picture(g) {
    this.pen = g;
    g.save();
    try {
      g.scale(this.scale, this.scale);
      this.begin(g);
    } finally {
      g.restore();
      this.pen = this.context;
    }
  }

  release() {
    super.release();
    this.over.abort();
  }
}

// Plane has every example at the length of its gradient and its angle to the mean.
class Plane extends Threshold {
  /** @type {PlaneSpec} */
  spec = { lo: 0.01, hi: 100, reach: 1, log: true, means: [] };
  /** @type {LabLook | undefined} */
  look;
  /** @type {ArrayLike<number> | undefined} */
  factors;

  /** @param {LabLook} look */
  show(look) {
    [this.look, this.factors] = [look, undefined];
    this.later();
  }
  /** @param {string} spec @param {{ factors: ArrayLike<number> }} [at] */
  set(spec, at) {
    this.spec = JSON.parse(spec);
    if (at) this.factors = at.factors;
    [this.lo, this.hi] = [this.spec.lo, this.spec.hi];
    this.later();
  }

  get radius() { return Math.min(this.width, this.height) / 2 - 14; }
  // A logarithmic radius begins a decade below the least C, so that its circle is one.
  /** @param {number} length */
  out(length) {
    const { log, lo, hi, reach } = this.spec, share = log ? Math.log(10 * length / lo) / Math.log(10 * hi / lo) : length / reach;
    return this.radius * Math.max(share, 0);
  }
  /** @param {number} x @param {number} y */
  at(x, y) {
    const { log, lo, hi, reach } = this.spec, share = Math.hypot(x - this.width / 2, y - this.height / 2) / this.radius;
    return log ? lo / 10 * (10 * hi / lo) ** share : share * reach;
  }
  // place is where a vector's tip stands.
  /** @param {number} along @param {number} across @returns {[number, number]} */
  place(along, across) {
    const length = Math.hypot(along, across), r = length > 0 ? this.out(length) / length : 0;
    return [this.width / 2 + r * along, this.height / 2 - r * across];
  }

  legend() { return this.spec.means.map((m) => ({ text: m.label, colour: ink(m.ink) })); }

  // table has a row for each example, and for each of the means.
  /** @param {boolean} diagnostic @returns {Table} */
  table(diagnostic) {
    const { look, factors, spec } = this, told = (/** @type {string} */ name) => "diagnostic: " + name;
    if (!diagnostic || !look) return { columns: [], rows: [] };
    return {
      columns: ["gradient of", ...["along the mean", "across it", "norm", `factor at ${this.called}`].map(told)],
      rows: [
        ...Array.from(look.norms, (n, i) => ["example " + (i + 1), look.along[i], look.across[i], n, factors?.[i] ?? null]),
        ...spec.means.map((m) => [m.label, m.x, m.y, Math.hypot(m.x, m.y), null]),
      ],
    };
  }

  /** @param {Pen} g */
  draw(g) {
    this.rings(g);
    this.examples(g);
    this.circle(g);
    const tips = this.spec.means.map((m) => this.arrow(g, m));
    this.grip(g, ...this.held());
    // Where C is small all is near the middle: no name covers the grip, or the mean's arrow.
    const held = this.held(), [middle, along] = [this.width / 2, this.height / 2];
    this.taken.push({ x: held[0] - GRIP, y: held[1] - GRIP, w: 2 * GRIP, h: 2 * GRIP });
    for (const [x, y] of tips) if (Math.abs(y - along) < 1 && x > middle) this.taken.push({ x: middle, y: along - 4, w: x - middle - APART, h: 8 });
    this.spec.means.forEach((m, i) => this.label(m.label, tips[i][0] + 8, tips[i][1] + (m.y > 0 ? -10 - this.rise(m) : 12), m.ink, true));
    this.label(this.called, held[0] + GRIP + APART, held[1] - 4, "text", true);
  }

  // held is where the circle is held: off the mean, within the picture.
  held() {
    const r = Math.min(this.out(this.c), Math.hypot(this.width, this.height) / 2 - 24), angle = -Math.PI / 4;
    const inside = (/** @type {number} */ v, /** @type {number} */ end) => Math.min(Math.max(v, 12), end - 12);
    return /** @type {[number, number]} */ ([inside(this.width / 2 + r * Math.cos(angle), this.width), inside(this.height / 2 - r * Math.sin(angle), this.height)]);
  }

  /** @param {Pen} g */
  rings(g) {
    const { width: w, height: h, spec } = this;
    const marks = spec.log ? decades(spec.lo / 10, spec.hi) : [1, 2, 3, 4].map((i) => spec.reach * i / 4);
    Object.assign(g, { strokeStyle: ink("grid"), lineWidth: 1 });
    g.setLineDash([]);
    g.beginPath();
    g.moveTo(0, h / 2);
    g.lineTo(w, h / 2);
    for (const m of marks) {
      const r = this.out(m);
      g.moveTo(w / 2 + r, h / 2);
      g.arc(w / 2, h / 2, r, 0, 2 * Math.PI);
    }
    g.stroke();
    Object.assign(g, { fillStyle: ink("muted"), textAlign: "center" });
    for (const m of marks) { // where there are few examples: they stand along the mean and across it
      const r = (this.out(m) - 8) * Math.SQRT1_2;
      if (r > 0) g.fillText(short(m), w / 2 - r, h / 2 + r);
    }
    g.textAlign = "left";
  }

  // Each example is where clipping puts it, and faintly where it was, mirrored by
  // turns so that the cloud has two halves.
  /** @param {Pen} g */
  examples(g) {
    const { look, factors } = this;
    if (!look) return;
    const spokes = pathFor(g), ghosts = pathFor(g), dots = pathFor(g), many = look.norms.length > 200, r = many ? 2 : 3;
    for (let i = 0; i < look.norms.length; i++) {
      const n = look.norms[i], f = factors?.[i] ?? 1;
      if (!(n >= 0) || !isFinite(n)) continue;
      const across = i % 2 ? -look.across[i] : look.across[i];
      const [x, y] = this.place(look.along[i], across), [u, v] = this.place(f * look.along[i], f * across);
      spokes.moveTo(this.width / 2, this.height / 2);
      spokes.lineTo(u, v);
      if (Math.hypot(x - u, y - v) > 1) {
        ghosts.moveTo(u, v);
        ghosts.lineTo(x, y);
        ghosts.moveTo(x + r, y);
        ghosts.arc(x, y, r, 0, 2 * Math.PI);
      }
      dots.moveTo(u + r, v);
      dots.arc(u, v, r, 0, 2 * Math.PI);
    }
    Object.assign(g, { lineWidth: 1, strokeStyle: ink("diagnostic"), fillStyle: ink("diagnostic"), globalAlpha: many ? 0.1 : 0.24 });
    g.stroke(spokes);
    Object.assign(g, { strokeStyle: ink("muted"), globalAlpha: 0.4 });
    g.stroke(ghosts);
    g.globalAlpha = 0.8;
    g.fill(dots);
    g.globalAlpha = 1;
  }

  /** @param {Pen} g */
  circle(g) {
    g.beginPath();
    g.arc(this.width / 2, this.height / 2, this.out(this.c), 0, 2 * Math.PI);
    Object.assign(g, { strokeStyle: ink("text"), lineWidth: 2 });
    g.stroke();
  }

  /** @param {Pen} g @param {Mean} mean */
  arrow(g, mean) {
    const [x, y] = this.place(mean.x, mean.y), middle = [this.width / 2, this.height / 2];
    if (mean.from) this.legs(g, mean.from, mean);
    this.bow(g, mean);
    const angle = Math.atan2(y - middle[1], x - middle[0]), length = Math.hypot(x - middle[0], y - middle[1]), head = Math.min(12, length);
    for (const [colour, width] of /** @type {[Ink, number][]} */ ([["surface", 7], [mean.ink, 4]])) {
      Object.assign(g, { strokeStyle: ink(colour), fillStyle: ink(colour), lineWidth: width });
      g.setLineDash([]);
      g.beginPath();
      g.moveTo(middle[0], middle[1]);
      g.lineTo(x - head * Math.cos(angle), y - head * Math.sin(angle));
      g.stroke();
      g.beginPath();
      g.moveTo(x, y);
      for (const side of [-0.45, 0.45]) g.lineTo(x - head * 1.3 * Math.cos(angle + side), y - head * 1.3 * Math.sin(angle + side));
      g.fill();
    }
    return [x, y];
  }

  // legs are what the noise adds along the mean, and then across it; on a logarithmic
  // radius straight lines bend.
  /** @param {Pen} g @param {[number, number]} from @param {Mean} to */
  legs(g, from, to) {
    Object.assign(g, { strokeStyle: ink(to.ink), lineWidth: 2 });
    g.setLineDash([3, 4]);
    g.beginPath();
    g.moveTo(...this.place(...from));
    for (let i = 1; i <= 24; i++) g.lineTo(...this.place(from[0] + (to.x - from[0]) * i / 24, from[1]));
    for (let i = 1; i <= 24; i++) g.lineTo(...this.place(to.x, from[1] + (to.y - from[1]) * i / 24));
    g.stroke();
    g.setLineDash([]);
  }

  // rise is how far the bow stands above a mean's tip: half of what its third point does.
  /** @param {Mean} mean */
  rise(mean) {
    const [x, y] = this.place(mean.x, mean.y), [u, v] = this.place(...(mean.off ?? [mean.x, mean.y]));
    return Math.hypot(x - u, y - v) / 6;
  }

  // bow leads from the tip that a mean should have to its own. The two lie nearly on one line, where an
  // arrow would hide a straight one. Where they touch there is nothing to see.
  /** @param {Pen} g @param {Mean} mean */
  bow(g, mean) {
    const rise = this.rise(mean);
    if (!mean.off || rise < 2) return;
    const [x, y] = this.place(mean.x, mean.y), [u, v] = this.place(...mean.off);
    Object.assign(g, { strokeStyle: ink(mean.ink), lineWidth: 2 });
    g.setLineDash([3, 4]);
    g.beginPath();
    g.moveTo(u, v);
    g.quadraticCurveTo((x + u) / 2, Math.min(y, v) - 2 * rise, x, y);
    g.stroke();
    g.setLineDash([]);
  }
}

// U has curves over log C, and C.
class U extends Threshold {
  /** @type {USpec} */
  spec = { lo: 0.01, hi: 100, bottom: 0.01, top: 10, title: "", level: "", lines: [], path: [] };
  /** @typedef {{ x: number, y: number, w: number }} Word where it stands */
  /** @type {{ spec: USpec, width: number, height: number, least?: Word, level?: Word, names: { l: ULine, x: number, y: number }[] } | undefined} */
  measured;
  edge = { left: 40, right: 12, top: 24, bottom: 40 };

  /** @param {string} spec */
  set(spec) {
    this.spec = JSON.parse(spec);
    [this.lo, this.hi] = [this.spec.lo, this.spec.hi];
    this.later();
  }

  /** @param {number} c */
  x(c) { return this.edge.left + (this.width - this.edge.left - this.edge.right) * Math.log(c / this.lo) / Math.log(this.hi / this.lo); }
  /** @param {number} v */
  y(v) {
    const { top, bottom } = this.spec, free = this.height - this.edge.top - this.edge.bottom;
    return this.edge.top + free * (1 - Math.log(Math.max(v, 1e-300) / bottom) / Math.log(top / bottom));
  }
  /** @param {number} x */
  at(x) { return this.lo * (this.hi / this.lo) ** ((x - this.edge.left) / (this.width - this.edge.left - this.edge.right)); }

  legend() { return this.spec.lines.map((l) => ({ text: l.label, colour: ink(l.ink), dash: l.dash })); }

  // table has a row for each C at which a line has a point.
  /** @param {boolean} diagnostic @returns {Table} */
  table(diagnostic) {
    const { lines, band, title } = this.spec;
    if (!diagnostic) return { columns: [], rows: [] };
    /** @type {[string, number[], number[]][]} */
    const all = lines.map((l) => [l.label, l.x, l.y]);
    if (band) all.push(["noise as drawn, at least", band.x, band.low], ["noise as drawn, at most", band.x, band.high]);
    const cs = [...new Set(all.flatMap(([, x]) => x))].sort((a, b) => a - b), at = all.map(([, x, y]) => new Map(x.map((c, i) => [c, y[i]])));
    return { columns: ["C", ...all.map(([name]) => `diagnostic: ${name} (${title})`)], rows: cs.map((c) => [c, ...at.map((m) => m.get(c) ?? null)]) };
  }

  /** @param {Pen} g */
  draw(g) {
    const { spec, edge, width: w, height: h } = this;
    this.grid(g);
    g.save();
    g.beginPath();
    g.rect(edge.left, edge.top - 4, w - edge.left - edge.right, h - edge.top - edge.bottom + 8);
    g.clip();
    if (spec.band) this.band(g, spec.band);
    for (const l of spec.lines) this.line(g, l);
    const walked = this.path(g);
    g.restore();
    const { least, level, names } = this.placed(), texts = walked ? [walked] : [];
    if (spec.least && least) texts.push(this.put(spec.least.label, least.x, least.y, "text", true));
    if (level) texts.push(this.put(spec.level, level.x, level.y, "muted"));
    for (const n of names) texts.push(this.put(n.l.label, n.x, n.y, n.l.ink));
    this.handle(g, texts);
    if (spec.least) this.least(g, spec.least);
    for (const t of texts) this.write(t);
  }

  /** @param {Pen} g */
  grid(g) {
    const { spec, edge, width: w, height: h } = this;
    Object.assign(g, { strokeStyle: ink("grid"), fillStyle: ink("muted"), lineWidth: 1, textAlign: "center" });
    g.setLineDash([]);
    g.beginPath();
    for (const p of decades(spec.lo, spec.hi)) {
      g.moveTo(this.x(p), edge.top);
      g.lineTo(this.x(p), h - edge.bottom);
      const text = short(p), half = g.measureText(text).width / 2;
      g.fillText(text, Math.min(this.x(p), w - half), h - edge.bottom + 12); // the last one may stand at the edge
    }
    g.textAlign = "right";
    for (const p of decades(spec.bottom, spec.top)) {
      g.moveTo(edge.left, this.y(p));
      g.lineTo(w - edge.right, this.y(p));
      g.fillText(short(p), edge.left - 6, this.y(p));
    }
    g.stroke();
    g.textAlign = "left";
    this.label(spec.title, 2, 10, "muted");
    if (this.x(this.c) < w - 200) { // where C is not written itself
      g.textAlign = "right";
      g.fillStyle = ink("muted");
      g.fillText("threshold C", w - edge.right, h - 12);
      g.textAlign = "left";
    }
    if (!(spec.bottom < 1 && spec.top > 1)) return;
    Object.assign(g, { strokeStyle: ink("muted"), lineWidth: 1 });
    g.setLineDash([2, 4]);
    g.beginPath();
    g.moveTo(edge.left, this.y(1));
    g.lineTo(w - edge.right, this.y(1));
    g.stroke();
    g.setLineDash([]);
  }

  /** @param {Pen} g @param {ULine} l */
  line(g, l) {
    Object.assign(g, { strokeStyle: ink(l.ink), lineWidth: l.width, lineCap: l.dash ? "butt" : "round" });
    g.setLineDash(l.dash ?? []);
    g.beginPath();
    let gap = true;
    l.x.forEach((c, i) => {
      if (!(l.y[i] > 0)) {
        gap = true;
        return;
      }
      if (gap) g.moveTo(this.x(c), this.y(l.y[i]));
      else g.lineTo(this.x(c), this.y(l.y[i]));
      gap = false;
    });
    g.stroke();
    g.setLineDash([]);
    g.lineCap = "round";
  }

  /** @param {Pen} g @param {Band} b */
  band(g, b) {
    g.beginPath();
    b.x.forEach((c, i) => g.lineTo(this.x(c), this.y(b.high[i])));
    for (let i = b.x.length - 1; i >= 0; i--) g.lineTo(this.x(b.x[i]), this.y(b.low[i]));
    Object.assign(g, { fillStyle: ink("released"), globalAlpha: 0.3 });
    g.fill();
    g.globalAlpha = 1;
  }

  // value is what a line is at c, between its points as on paper of two logarithms.
  /** @param {ULine} l @param {number} c */
  value(l, c) {
    const i = l.x.findIndex((x) => x >= c);
    if (i < 0) return NaN;
    if (i === 0 || l.x[i] === c) return l.y[i];
    const share = Math.log(c / l.x[i - 1]) / Math.log(l.x[i] / l.x[i - 1]);
    return l.y[i - 1] > 0 ? l.y[i - 1] * (l.y[i] / l.y[i - 1]) ** share : NaN;
  }

  // path is where a run's threshold went: on the sum, from a ring to a dot, whose name is
  // yet to be written.
  /** @param {Pen} g */
  path(g) {
    const { path, lines } = this.spec, sum = lines.find((l) => l.sum);
    if (!sum || !path.length) return undefined;
    path.forEach((c, i) => {
      const [x, y] = [this.x(c), this.y(this.value(sum, c))], last = i === path.length - 1, ring = i === 0 && !last;
      g.beginPath();
      g.arc(x, y, last || ring ? 6 : 3, 0, 2 * Math.PI);
      Object.assign(g, { fillStyle: ink(ring ? "surface" : "lane5"), strokeStyle: ink(ring ? "lane5" : "surface"), lineWidth: ring ? 3 : 1 });
      g.fill();
      g.stroke();
    });
    return this.put("C of the run", this.x(path[path.length - 1]) + 8, this.y(this.value(sum, path[path.length - 1])) + 14, "lane5", true);
  }

  /** @param {Pen} g @param {{ c: number, y: number }} least */
  least(g, least) {
    const [x, y] = [this.x(least.c), this.y(least.y)];
    Object.assign(g, { fillStyle: ink("text"), strokeStyle: ink("surface"), lineWidth: 2 });
    g.beginPath();
    g.moveTo(x, y - 7);
    g.lineTo(x + 7, y);
    g.lineTo(x, y + 7);
    g.lineTo(x - 7, y);
    g.closePath();
    g.fill();
    g.stroke();
  }

  // beside is where the least point's name stands: about it, where the lines are farthest,
  // of which ys has the heights every step pixels.
  /** @param {{ c: number, y: number, label: string }} least @param {number[][]} ys @param {number} step */
  beside(least, ys, step) {
    const g = this.context, { edge, width } = this, [x, y] = [this.x(least.c), this.y(least.y)];
    g.font = "600 " + font;
    const w = g.measureText(least.label).width;
    g.font = font;
    let best = { room: -1, x: x - w / 2, y: y + 18, w };
    for (const left of [x - w / 2, x - w - 12, x + 12]) {
      if (left < edge.left || left + w > width - edge.right) continue;
      for (const at of [y + 18, y - 18, y + 34, y - 34]) {
        let room = 18; // more is no better
        for (const line of ys) {
          for (let k = Math.floor(left / step); k * step < left + w; k++) {
            const away = Math.abs(line[k] - at); // not a number where the line does not go
            if (away < room) room = away;
          }
        }
        if (room > best.room) best = { room, x: left, y: at, w };
      }
    }
    return best;
  }

  // handle is C: a line that gives way to texts, dots where it meets the curves, and a grip.
  /** @param {Pen} g @param {Placed[]} texts */
  handle(g, texts) {
    const { edge, height: h, spec } = this, x = this.x(this.c), end = h - edge.bottom;
    Object.assign(g, { strokeStyle: ink("text"), lineWidth: 2, lineCap: "butt" });
    g.beginPath();
    let from = edge.top;
    const half = size / 2 + 2, over = texts.filter((t) => x > t.x - 4 && x < t.x + t.w + 4).sort((a, b) => a.y - b.y);
    for (const t of over) {
      if (t.y - half > from) {
        g.moveTo(x, from);
        g.lineTo(x, Math.min(t.y - half, end));
      }
      from = Math.max(from, t.y + half);
    }
    if (from < end) {
      g.moveTo(x, from);
      g.lineTo(x, end);
    }
    g.stroke();
    g.lineCap = "round";
    for (const l of spec.lines) {
      const y = this.y(this.value(l, this.c));
      if (!(y >= edge.top && y <= h - edge.bottom)) continue;
      g.beginPath();
      g.arc(x, y, 4, 0, 2 * Math.PI);
      Object.assign(g, { fillStyle: ink(l.ink), strokeStyle: ink("surface"), lineWidth: 2 });
      g.fill();
      g.stroke();
    }
    this.grip(g, x, h - 14);
    const w = g.measureText(this.called).width;
    this.label(this.called, x + 14 + w > this.width ? x - 20 - w : x + 14, h - 12, "text", true);
  }

  // placed says where the least point's name stands, and where each line's: beside it,
  // where the other lines are farthest. C has no say in it, as names would jump about
  // while it is moved.
  placed() {
    const { edge, width, height, spec } = this, { measured } = this;
    if (measured?.spec === spec && measured.width === width && measured.height === height) return measured;
    const step = 8, columns = Math.ceil(width / step) + 1; // every so many pixels, the lines are looked up
    const ys = spec.lines.map((l) => Array.from({ length: columns }, (_, k) => this.y(this.value(l, this.at(k * step)))));
    const least = spec.least && this.beside(spec.least, ys, step), first = least ? [least] : [];
    // crossed counts the places at which lines come near a text there, and texts that do.
    const crossed = (/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ w) => {
      let cost = 0;
      for (const line of ys) for (let k = Math.floor(x / step); k * step < x + w; k++) if (Math.abs(line[k] - y) < 10) cost++;
      for (const n of [...first, ...names]) if (x < n.x + n.w && n.x < x + w && Math.abs(n.y - y) < 16) cost += 5;
      return cost;
    };
    /** @type {{ l: ULine, x: number, y: number, w: number }[]} */
    const names = [];
    for (const l of spec.lines) {
      const w = this.context.measureText(l.label).width + 4;
      let best = { cost: 20, x: NaN, y: 0 };
      l.x.forEach((c, i) => {
        const middle = this.x(c) - w / 2, on = this.y(l.y[i]);
        if (!(on > edge.top && on < height - edge.bottom)) return;
        for (const [x, y] of [[middle, on - 14], [middle, on + 14], [middle - w / 2 - 8, on], [middle + w / 2 + 12, on]]) {
          if (x < edge.left || x + w > width - edge.right || y < edge.top + 8 || y > height - edge.bottom - 8) continue;
          const cost = Math.abs(i / l.x.length - l.at) + crossed(x, y, w);
          if (cost < best.cost) best = { cost, x, y };
        }
      });
      if (best.x > 0) names.push({ l, x: best.x, y: best.y, w });
    }
    // What 1 means stands at its line's end, above or below, or where it begins.
    let level;
    if (spec.bottom < 1 && spec.top > 1) {
      const w = this.context.measureText(spec.level).width, right = width - edge.right - w, left = edge.left + 4, on = this.y(1);
      let least = Infinity;
      for (const [x, y] of [[right, on - 10], [right, on + 12], [left, on + 12], [left, on - 10]]) {
        const cost = crossed(x, y, w);
        if (cost >= least) continue;
        [least, level] = [cost, { x, y, w }];
      }
    }
    return this.measured = { spec, width, height, least, level, names };
  }
}

// Field is the plane of the data: what a model answers where, and the batch's rows,
// drawn largest where clipped most.
class Field extends Board {
  /** @type {Boundary | undefined} */
  boundary;
  /** @type {ArrayLike<number> | undefined} */
  factors;

  /** @param {Boundary} boundary @param {{ factors: ArrayLike<number> }} [at] */
  set(boundary, at) {
    [this.boundary, this.factors] = [boundary, at?.factors];
    this.later();
  }

  /** @param {{ factors: ArrayLike<number> }} at */
  clipped(at) {
    this.factors = at.factors;
    this.later();
  }

  /** @param {Pen} g */
  draw(g) {
    const b = this.boundary;
    if (!b) return;
    const { width: w, height: h } = this, n = b.size;
    const colour = (/** @type {number} */ k) => ink(/** @type {Ink[]} */ (["released", "diagnostic", "second", "third"])[k % 4]);
    for (let i = 0; i < n * n; i++) {
      g.fillStyle = colour(b.classes[i]);
      g.globalAlpha = 0.08 + 0.3 * Math.max(0, b.share[i] - 0.4);
      const x = i % n, y = Math.floor(i / n), left = Math.round(x * w / n), top = Math.round(h - (y + 1) * h / n);
      g.fillRect(left, top, Math.round((x + 1) * w / n) - left, Math.round(h - y * h / n) - top);
    }
    g.globalAlpha = 0.85;
    Object.assign(g, { strokeStyle: ink("surface"), lineWidth: 1 });
    b.rows.forEach((r, i) => {
      const f = this.factors?.length === b.rows.length ? Math.min(this.factors[i], 1) : 1; // some methods lengthen
      g.beginPath();
      g.arc((r.x - b.x[0]) / (b.x[1] - b.x[0]) * w, h - (r.y - b.y[0]) / (b.y[1] - b.y[0]) * h, 2 + 5 * (1 - f), 0, 2 * Math.PI);
      g.fillStyle = colour(r.label);
      g.fill();
      g.stroke();
    });
    g.globalAlpha = 1;
  }
}

// head is a look as text without what is only drawn.
/** @param {LabLook} look */
const head = (look) => stringify({ ...look, along: undefined, across: undefined, losses: undefined });

// say puts text where the page's Go side has left an element empty: many times a
// second, which drawing the page anew would be too slow for. What the element was told
// last is remembered, as a translator may have changed what stands there.
/** @type {WeakMap<Element, string>} */
const told = new WeakMap();
/** @param {string} id @param {string} text */
function say(id, text) {
  const e = document.getElementById(id);
  if (!e || told.get(e) === text) return;
  told.set(e, text);
  e.textContent = text;
}

// slide puts a range where C is, unless it is what moves it.
/** @param {string} id @param {number} value @param {string} text */
function slide(id, value, text) {
  const range = /** @type {HTMLInputElement | null} */ (document.getElementById(id));
  if (!range) return;
  if (document.activeElement !== range) range.value = String(value);
  range.setAttribute("aria-valuetext", text);
  say(id + "-now", text);
}

export const lab = Object.freeze({
  plane: (/** @type {HTMLCanvasElement} */ canvas, /** @type {(c: number, settled: boolean) => void} */ moved) => new Plane(canvas, moved),
  u: (/** @type {HTMLCanvasElement} */ canvas, /** @type {(c: number, settled: boolean) => void} */ moved) => new U(canvas, moved),
  field: (/** @type {HTMLCanvasElement} */ canvas) => new Field(canvas),
  head, say, slide,
});
