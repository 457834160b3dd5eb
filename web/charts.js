// Does for the page's Go side what Go cannot do cheaply: uPlot charts, each fed from one shared buffer, and
// a few browser calls. Go decides what is drawn (ui/chart/plot.go); this file decides only how.
import uPlot from "uplot";
import { asking, clipscope } from "./clipscope.js";
import { readInks } from "./ink.js";
import { download } from "./sheet.js";
import { base } from "./site.js";
import { say } from "./wire.js";
/** @import { Columns, Ends, Format, Ink, Line, Pen, Plot, Result, Savable, Shown, Spec, Table } from "./types.d.ts" */

// --- ink: the stylesheet's colours, as a canvas needs them ---------------

/** @type {Record<Ink, string> | null} */
let inks = null;
/** @type {Set<Chart>} */
const charts = new Set();
/** @type {WeakMap<Element, Savable>} */
export const savables = new WeakMap();

/** @param {Ink} name */
export function ink(name) {
  inks ??= readInks();
  return inks[name];
}

/** @type {(() => void)[]} */
const painters = []; // of other scripts

// repainted has paint called whenever the colours or the size of what is drawn change.
/** @param {() => void} paint */
export const repainted = (paint) => { painters.push(paint); };

function repaint() {
  inks = null;
  for (const c of charts) c.redraw();
  for (const paint of painters) paint();
}

for (const media of ["(prefers-color-scheme: dark)", "print"]) matchMedia(media).addEventListener("change", repaint);

// --- numbers -------------------------------------------------------------

const exact = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const whole = new Intl.NumberFormat("en");

/** @param {number} v */
function short(v) {
  const a = Math.abs(v);
  if (v !== 0 && (a < 1e-3 || a >= 1e6)) return v.toExponential().replace("e+", "e").replace("-", "−");
  return (Number.isInteger(v) ? whole : exact).format(v); // a step has all of its digits
}

// roundUp is the least number of at most so many significant digits that is not
// below x, as core/run's RoundUp: whatever is shown of a bound is one.
/** @param {number} x @param {number} digits */
function roundUp(x, digits) {
  if (!(x > 0) || !isFinite(x)) return x;
  const nearest = x.toExponential(digits - 1);
  if (Number(nearest) >= x) return Number(nearest);
  const [mantissa, exponent] = nearest.split("e");
  return Number(`${Number(mantissa.replace(".", "")) + 1}e${Number(exponent) - digits + 1}`);
}

// bound writes an upper bound, such as ε: never less than it is.
const finer = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
/** @param {number} v */
function bound(v) {
  const up = roundUp(v, 4);
  return up < 1e-3 || up >= 1e6 ? short(up) : finer.format(up);
}

// epsilon writes ε as the page's texts do: two decimals, no less than it is.
const hundredths = new Intl.NumberFormat("en", { minimumFractionDigits: 2, maximumFractionDigits: 2, useGrouping: false });
/** @param {number} v */
const epsilon = v => v >= 0.01 && v < 1e6 ? hundredths.format(roundUp(v, 3 + Math.floor(Math.log10(v)))) : bound(v);

/** @type {Record<Format, (v: number) => string>} */
const formats = {
  percent: v => exact.format(100 * v) + " %",
  number: short,
  bound,
  epsilon,
};

// nice is the least of 1, 2, 2.5, 5 times a power of ten that is at least v:
// axes grow in these steps and do not jump with every value.
/** @param {number} v */
function nice(v) {
  if (!(v > 0) || !isFinite(v)) return 1;
  const p = 10 ** Math.floor(Math.log10(v));
  for (const m of [1, 2, 2.5, 5]) if (m * p >= v * (1 - 1e-9)) return m * p;
  return 10 * p;
}

// decades widens a range to whole powers of ten.
/** @param {number} min @param {number} max @returns {Ends} */
function decades(min, max) {
  if (!(min > 0)) return [0.1, 10];
  let lo = Math.floor(Math.log10(min) + 1e-9), hi = Math.ceil(Math.log10(max) - 1e-9);
  if (lo === hi) { lo--; hi++; }
  return [10 ** lo, 10 ** hi];
}

// --- options -------------------------------------------------------------

// enlarged is how much larger all but the frame is drawn while the page is presented.
export const enlarged = () => document.documentElement.dataset.present === undefined ? 1 : 1.5;
const size = () => 12 * enlarged(); // of text, in CSS pixels
const ratio = () => enlarged() * devicePixelRatio;
const dash = [5, 4];

// spanned is a range a little wider than what is drawn.
/** @param {unknown} u @param {number | null} lo @param {number | null} hi @returns {Ends} */
function spanned(u, lo, hi) {
  if (lo == null || hi == null) return [0, 1];
  const more = 0.04 * (hi - lo) || Math.abs(hi) / 10 || 1;
  return [lo - more, hi + more];
}

/** @param {Spec} spec @param {Shown} now */
function scales(spec, now) {
  const y = spec.y, mark = () => spec.mark === "horizontal" && now.mark || 0;
  const top = y.max;
  /** @type {(u: Plot, lo: number, hi: number) => Ends} */
  const range = y.free ? spanned : y.log ? (u, lo, hi) => decades(lo, Math.max(hi, mark()))
    : top ? () => [0, 1.04 * top]
      : (u, lo, hi) => [0, nice(1.02 * Math.max(hi ?? 0, mark()))];
  /** @type {import("uplot").Scales} */
  const all = {
    x: spec.x.free ? { time: false, range: spanned } : spec.x.log ? { time: false, distr: 3, range: (u, lo, hi) => decades(lo, hi) } : { time: false, range: () => [0, now.end || 1] },
    y: { distr: y.log ? 3 : 1, range },
  };
  if (spec.kind === "histogram") {
    const log = () => now.start > 0;
    all.x = {
      time: false, range: () => [now.start, now.end || 1], distr: 100,
      fwd: v => log() ? Math.log10(Math.max(v, now.start)) : v,
      bwd: v => log() ? 10 ** v : v,
    };
    all.y = { ...all.y, range: () => [0, nice(1.02 * now.tallest)] };
    all.w = { range: () => [0, 1.04 * now.heaviest] };
  }
  return all;
}

/** @param {import("uplot").Axis} more @returns {import("uplot").Axis} */
function axis(more) {
  return {
    font: `${size()}px system-ui, sans-serif`, gap: 4,
    stroke: () => ink("muted"),
    grid: { stroke: () => ink("grid"), width: 1 },
    ticks: { stroke: () => ink("grid"), width: 1, size: 4 },
    ...more,
  };
}

// ticks are round numbers between the ends of an axis that may be logarithmic: then
// powers of ten, and twice and five times these where there are few.
/** @param {Shown} now @param {number} lo @param {number} hi @param {number} step */
function ticks(now, lo, hi, step) {
  const all = [];
  if (!(now.start > 0)) {
    for (let i = Math.ceil(lo / step); i * step <= hi; i++) all.push(i * step);
    return all;
  }
  const between = hi / lo > 1000 ? [1] : [1, 2, 5];
  for (let p = now.start; p <= hi; p *= 10) all.push(...between.map(m => m * p).filter(v => v <= hi));
  return all;
}

/** @param {Spec} spec @param {Shown} now */
function axes(spec, now) {
  const format = spec.y.format === "percent" ? formats.percent : short; // ticks are round as they are
  const x = axis({ size: enlarged() * (spec.x.hidden ? 8 : 22), values: (u, v) => spec.x.hidden ? v.map(() => "") : v.map(short), space: 60 * enlarged() });
  const y = axis({
    scale: "y", size: 48 * enlarged(),
    values: (u, v) => v.map(t => t == null || (spec.y.log && !decade(t)) ? "" : format(t)),
    space: spec.y.log ? 16 : (u, k, lo, hi, room) => Math.max(size(), Math.min(28 * enlarged(), room)), // in a low chart both ends
  });
  if (spec.y.log) {
    /** @type {import("uplot").Axis.Filter} */
    const filter = (u, v) => v.map(t => decade(t) || roomy(u) ? t : null);
    y.grid = { ...y.grid, filter };
    y.ticks = { ...y.ticks, filter };
  }
  if (spec.x.log) {
    x.values = (u, v) => v.map(t => t != null && decade(t) ? short(t) : "");
    /** @type {import("uplot").Axis.Filter} */
    const filter = (u, v) => v.map(t => decade(t) ? t : null);
    x.grid = { ...x.grid, filter };
    x.ticks = { ...x.ticks, filter };
  }
  if (spec.kind !== "histogram") return [x, y];
  x.splits = (u, i, lo, hi, step) => ticks(now, lo, hi, step);
  x.filter = (u, v) => v;
  return [x, y, axis({ scale: "w", side: 1, size: 40 * enlarged(), grid: { show: false }, values: (u, v) => v.map(short), space: 28 })];
}

// roomy reports whether a logarithmic axis has room for lines between its decades.
/** @param {Plot} u */
function roomy(u) {
  const { min, max } = u.scales.y;
  return u.height > 32 * Math.log10((max ?? 10) / (min ?? 1));
}

/** @param {number} v */
function decade(v) {
  const e = Math.log10(v);
  return Math.abs(e - Math.round(e)) < 1e-9;
}

/** @param {Line} s @returns {import("uplot").Series} */
function line(s) {
  return {
    label: s.label, scale: s.scale || "y", spanGaps: true,
    stroke: () => ink(s.ink), width: enlarged() * (s.width || 1.5),
    dash: s.ink === "diagnostic" ? dash : undefined,
    points: { show: !!s.points, size: 5, width: 1, stroke: () => ink(s.ink), fill: () => ink(s.points ? "surface" : s.ink) },
    // Between points nothing is known, and nothing is drawn.
    paths: s.points ? () => null : s.stepped ? uPlot.paths.stepped?.({ align: 1 }) : undefined,
  };
}

/** @param {Spec} spec @param {Shown} now @param {{ width: number, height: number }} size @param {import("uplot").Hooks.Arrays} hooks @returns {import("uplot").Options} */
function options(spec, now, size, hooks) {
  return {
    ...size,
    legend: { show: false },
    padding: [(spec.kind === "histogram" ? 8 + 15 * keyRows() : 8) * enlarged(), spec.kind === "histogram" ? 0 : enlarged() * (spec.side || 56), 0, 0],
    scales: scales(spec, now), axes: axes(spec, now),
    series: [{ label: spec.x.label }, ...spec.series.map(line)],
    cursor: {
      drag: { x: false, y: false },
      focus: { prox: -1 },
      points: { size: 6 },
      y: false,
      sync: spec.sync ? { key: spec.sync, scales: ["x", null] } : undefined,
    },
    hooks,
  };
}

// --- drawing on top of uPlot ---------------------------------------------

// write puts text on the canvas, in CSS pixels' size.
/** @param {Plot} u @param {string} text @param {number} x @param {number} y @param {string} colour @param {CanvasTextAlign} align */
function write(u, text, x, y, colour, align = "left") {
  const ctx = u.ctx;
  ctx.save();
  ctx.font = `${12 * ratio()}px system-ui, sans-serif`;
  ctx.textBaseline = "middle";
  ctx.textAlign = align;
  // A rim of the background, for lines go under words.
  ctx.lineJoin = "round";
  ctx.lineWidth = 4 * ratio();
  ctx.strokeStyle = ink("surface");
  ctx.setLineDash([]);
  ctx.strokeText(text, x, y);
  ctx.fillStyle = colour;
  ctx.fillText(text, x, y);
  ctx.restore();
}

// endLabels writes each line's name behind its last point, apart from each other.
/** @param {Plot} u @param {Spec} spec */
function endLabels(u, spec) {
  const r = ratio();
  /** @type {{ s: Line, x: number, y: number }[]} */
  const labels = [];
  spec.series.forEach((s, k) => {
    if (!s.label || s.scale === "w") return;
    const col = u.data[k + 1];
    for (let i = col.length - 1; i >= 0; i--) {
      const y = col[i];
      if (typeof y !== "number" || !isFinite(y)) continue;
      labels.push({ s, x: u.valToPos(u.data[0][i], "x", true) + 6 * r, y: u.valToPos(y, "y", true) });
      return;
    }
  });
  // What is tested now and then ends before the rest: no name stands on another's line.
  const last = Math.max(...labels.map(l => l.x));
  for (const l of labels) l.x = last;
  labels.sort((a, b) => a.y - b.y);
  const top = u.bbox.top + 5 * r, bottom = u.bbox.top + u.bbox.height - 5 * r, gap = 12 * r;
  labels.forEach((l, i) => { l.y = Math.max(l.y, i ? labels[i - 1].y + gap : top); });
  for (let i = labels.length - 1, limit = bottom; i >= 0; i--, limit -= gap) labels[i].y = Math.min(labels[i].y, limit);
  // Where there is no room for all, the last ones stand beside the row of ticks: above it
  // the first would be cut.
  const over = labels.length ? top - labels[0].y : 0;
  if (over > 0) for (const l of labels) l.y += over;
  for (const l of labels) write(u, l.s.label, l.x, l.y, ink(l.s.ink));
}

/** @type {Record<string, (p: Path2D, x: number, y: number, r: number) => void>} */
const shapes = {
  circle: (p, x, y, r) => p.arc(x, y, r, 0, 2 * Math.PI),
  square: (p, x, y, r) => p.rect(x - r, y - r, 2 * r, 2 * r),
  triangle: (p, x, y, r) => polygon(p, [[x, y - 1.2 * r], [x + 1.2 * r, y + r], [x - 1.2 * r, y + r]]),
  diamond: (p, x, y, r) => polygon(p, [[x, y - 1.4 * r], [x + 1.4 * r, y], [x, y + 1.4 * r], [x - 1.4 * r, y]]),
  cross: (p, x, y, r) => { strokes(p, x - r, y - r, x + r, y + r); strokes(p, x - r, y + r, x + r, y - r); },
  plus: (p, x, y, r) => { strokes(p, x - 1.3 * r, y, x + 1.3 * r, y); strokes(p, x, y - 1.3 * r, x, y + 1.3 * r); },
};

/** @param {Path2D} p @param {[number, number][]} corners */
function polygon(p, corners) {
  corners.forEach((c, i) => i ? p.lineTo(...c) : p.moveTo(...c));
  p.closePath();
}

/** @param {Path2D} p @param {number} x0 @param {number} y0 @param {number} x1 @param {number} y1 */
function strokes(p, x0, y0, x1, y1) {
  p.moveTo(x0, y0);
  p.lineTo(x1, y1);
}

// pathFor is an empty path for a pen.
/** @param {Pen} ctx */
export const pathFor = (ctx) => ctx.path ? ctx.path() : new Path2D();

// shapesAlong draws each line's mark at its points, at most one every 64 pixels: where
// two lines have one colour for somebody, they still have two shapes.
/** @param {Plot} u @param {Spec} spec */
function shapesAlong(u, spec) {
  const ctx = u.ctx, r = ratio();
  spec.series.forEach((s, k) => {
    const draw = shapes[s.mark ?? ""];
    if (!draw) return;
    const path = pathFor(ctx);
    let last = -Infinity;
    u.data[k + 1].forEach((v, i) => {
      if (typeof v !== "number" || !isFinite(v)) return;
      const x = u.valToPos(u.data[0][i], "x", true);
      if (x - last < 64 * r) return;
      last = x;
      const dot = pathFor(ctx);
      draw(dot, x, u.valToPos(v, "y", true), 3.5 * r);
      path.addPath(dot);
    });
    ctx.save();
    ctx.setLineDash([]);
    Object.assign(ctx, { lineWidth: 2 * r, strokeStyle: ink(s.ink), fillStyle: ink("surface") });
    ctx.fill(path);
    ctx.stroke(path);
    ctx.restore();
  });
}

// axisName stands behind the end of the x axis, in the row of its ticks, and on the canvas.
/** @param {Plot} u @param {string} name */
function axisName(u, name) {
  const r = ratio(), b = u.bbox, most = u.scales.x.max ?? 0;
  // Half of the widest number that may stand there, whose digits are 7 pixels wide.
  const half = 3.5 * short(most).length * r;
  const x = b.left + b.width + Math.max(18 * r, half + 4 * r), last = (u.width - 2) * r - wide(u, [name]);
  write(u, name, Math.min(x, last), b.top + b.height + 13 * r, ink("muted"));
}

// key names what a histogram shows, above it.
/** @param {Plot} u @param {[Ink, string][]} entries */
function key(u, entries) {
  const r = ratio(), b = u.bbox;
  let right = b.left + b.width, row = keyRows();
  for (const [name, text] of entries.toReversed()) {
    const width = wide(u, [text]);
    if (right - width < b.left && row > 1) [right, row] = [b.left + b.width, row - 1];
    write(u, text, right, b.top + (8 - 15 * (keyRows() + 1 - row)) * r, ink(name), "right");
    right -= width + 12 * r;
  }
}

// keyRows are above the bars: of large letters not all names have room in one.
const keyRows = () => enlarged() > 1 ? 2 : 1;

/** @param {Plot} u @param {[number, number]} from @param {[number, number]} to @param {string} colour */
function rule(u, from, to, colour, width = 1.5) {
  const ctx = u.ctx;
  ctx.save();
  ctx.setLineDash([]);
  ctx.strokeStyle = colour;
  ctx.lineWidth = width * ratio();
  ctx.beginPath();
  ctx.moveTo(...from);
  ctx.lineTo(...to);
  ctx.stroke();
  ctx.restore();
}

// wide is how much of the canvas texts take, the longest of them.
/** @param {Plot} u @param {string[]} texts */
function wide(u, texts) {
  u.ctx.save();
  u.ctx.font = `${12 * ratio()}px system-ui, sans-serif`;
  const widths = texts.map(text => u.ctx.measureText(text).width);
  u.ctx.restore();
  return Math.max(0, ...widths);
}

// rulers draws the axes as uPlot does, which draws on its own canvas alone.
/** @param {Plot} u @param {Spec} spec */
function rulers(u, spec) {
  const r = ratio(), b = u.bbox, [right, bottom] = [b.left + b.width, b.top + b.height];
  u.axes.forEach((a, k) => {
    const { _splits, _values, scale = "x" } = /** @type {any} */ (a);
    (_splits ?? []).forEach((/** @type {number | null} */ v, /** @type {number} */ i) => {
      const text = k === 0 && spec.x.hidden ? short(v ?? 0) : _values?.[i] ?? "";
      if (v === null || !text) return;
      const at = u.valToPos(v, scale, true);
      if (k === 0) rule(u, [at, b.top], [at, bottom], ink("grid"), 1);
      if (k === 1) rule(u, [b.left, at], [right, at], ink("grid"), 1);
      if (k === 0) write(u, text, at, bottom + 13 * r, ink("muted"), "center");
      else if (k === 1) write(u, text, b.left - 8 * r, at, ink("muted"), "right");
      else write(u, text, right + 8 * r, at, ink("muted"));
    });
  });
}

// trace draws a line as uPlot does.
/** @param {Plot} u @param {Line} s @param {ArrayLike<number | null | undefined>} values */
function trace(u, s, values) {
  const ctx = u.ctx, r = ratio();
  let before = NaN;
  ctx.save();
  ctx.setLineDash(s.ink === "diagnostic" && !s.points ? dash.map(d => d * r) : []);
  Object.assign(ctx, { strokeStyle: ink(s.ink), fillStyle: ink("surface"), lineWidth: r * (s.points ? 1 : s.width || 1.5) });
  ctx.beginPath();
  for (let i = 0; i < values.length; i++) {
    const v = values[i];
    if (typeof v !== "number" || !isFinite(v)) continue;
    const x = u.valToPos(u.data[0][i], "x", true), y = u.valToPos(v, s.scale || "y", true);
    if (s.points) {
      ctx.moveTo(x + 2.5 * r, y);
      ctx.arc(x, y, 2.5 * r, 0, 2 * Math.PI);
    } else if (isNaN(before)) {
      ctx.moveTo(x, y);
    } else {
      if (s.stepped) ctx.lineTo(x, before);
      ctx.lineTo(x, y);
    }
    before = y;
  }
  if (s.points) ctx.fill();
  ctx.stroke();
  ctx.restore();
}

// vertical marks a threshold, horizontal a budget.
/** @param {Plot} u @param {number} x @param {string} text */
function vertical(u, x, text) {
  const r = ratio(), b = u.bbox, px = Math.round(u.valToPos(x, "x", true));
  if (!(px >= b.left && px <= b.left + b.width)) return;
  rule(u, [px, b.top], [px, b.top + b.height], ink("released"));
  // It stands where there is room for it beside the line.
  const right = px + 9 * r + wide(u, [text]) > b.left + b.width;
  write(u, text, px + (right ? -5 : 5) * r, b.top + 10 * r, ink("released"), right ? "right" : "left");
}

// changed is what was changed of a run, in the order of ui/chart's changeable.
/** @param {number} field @param {number} from @param {number} to */
const changed = (field, from, to) => `${"Cση"[field]} ${short(from)} → ${short(to)}`;

// changes marks the steps from which a run went on with other numbers, and says with
// which where there is room: what is at one step in one label, and each label once.
/** @param {Plot} u @param {Spec} spec @param {Shown} now */
function changes(u, spec, { changes: all, mark }) {
  const r = ratio(), b = u.bbox;
  // They stand clear of a mark and of what it says: under those, or above a low line.
  const low = spec.mark === "horizontal" && Number.isFinite(mark) ? u.valToPos(mark, "y", true) - b.top : 0;
  const top = b.top + (spec.mark === "vertical" ? 36 * r : low > 0 && low < b.height / 2 ? low + 12 * r : 8 * r);
  /** @type {Map<string, { px: number, colour: string, texts: string[] }>} */
  const at = new Map();
  for (const { line, step, text } of all) {
    const px = Math.round(u.valToPos(step, "x", true)), lane = spec.series[line].mark ? spec.series[line].ink : "muted";
    if (!(px >= b.left && px <= b.left + b.width)) continue;
    const here = at.get(lane + step) ?? { px, colour: ink(lane), texts: [] };
    here.texts.push(text);
    at.set(lane + step, here);
  }
  /** @type {number[]} */
  const ends = []; // of the labels in each row
  const said = new Set();
  for (const { px, colour, texts } of [...at.values()].sort((p, q) => p.px - q.px)) {
    u.ctx.save();
    u.ctx.globalAlpha = 0.7;
    rule(u, [px, b.top], [px, b.top + b.height], colour);
    u.ctx.restore();
    const text = texts.join(", "), width = wide(u, [text]);
    const left = Math.min(px + 5 * r, b.left + b.width - width);
    const row = [0, 1, 2].find(i => (ends[i] ?? 0) < left && b.height > (48 + 28 * i) * r);
    if (said.has(text) || row === undefined) continue;
    said.add(text);
    ends[row] = left + width + 8 * r;
    write(u, text, left, top + 14 * row * r, ink("text"));
  }
}

/** @param {Plot} u @param {number} y @param {string} text */
function horizontal(u, y, text) {
  const r = ratio(), b = u.bbox, py = Math.round(u.valToPos(y, "y", true));
  if (!(py >= b.top && py <= b.top + b.height)) return;
  rule(u, [b.left, py], [b.left + b.width, py], ink("muted"));
  write(u, text, b.left + 6 * r, py - 8 * r, ink("muted"));
}

// begin marks where lines begin, for what was before is not known.
/** @param {Plot} u @param {number} x @param {string} text */
function begin(u, x, text) {
  const r = ratio(), b = u.bbox, px = Math.round(u.valToPos(x, "x", true));
  if (!(px >= b.left && px <= b.left + b.width)) return;
  rule(u, [px, b.top], [px, b.top + b.height], ink("muted"));
  const before = px - 9 * r - wide(u, [text]) > b.left; // where there are no lines, if there is room
  write(u, text, px + (before ? -5 : 5) * r, b.top + b.height - 10 * r, ink("muted"), before ? "right" : "left");
}

// edge is where bin i of n begins: evenly over [0, max]; or, where low > 0, evenly over [low, max]
// on a logarithmic axis, the first at 0.
/** @param {number} i @param {number} n @param {number} low @param {number} max */
const edge = (i, n, low, max) => low > 0 ? i && low * (max / low) ** (i / n) : max * i / n;

// bars draws bins as an outline: filled and dashed for diagnostic counts, open and solid for
// released ones.
/** @param {Plot} u @param {Float64Array} counts @param {number} low @param {number} max @param {Ink} name */
function bars(u, counts, low, max, name) {
  if (!counts.length || !(max > 0)) return;
  const ctx = u.ctx, base = u.valToPos(0, "y", true);
  ctx.save();
  ctx.setLineDash([]);
  ctx.beginPath();
  ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
  ctx.clip();
  ctx.beginPath();
  ctx.moveTo(u.valToPos(0, "x", true), base);
  counts.forEach((n, i) => {
    const y = u.valToPos(Math.max(n, 0), "y", true);
    for (const j of [i, i + 1]) ctx.lineTo(u.valToPos(edge(j, counts.length, low, max), "x", true), y);
  });
  ctx.lineTo(u.valToPos(max, "x", true), base);
  ctx.strokeStyle = ctx.fillStyle = ink(name);
  ctx.lineWidth = 1.5 * ratio();
  if (name === "diagnostic") {
    ctx.globalAlpha = 0.22;
    ctx.fill();
    ctx.globalAlpha = 1;
    ctx.setLineDash(dash.map(d => d * ratio()));
  }
  ctx.stroke();
  ctx.restore();
}

// --- one chart -----------------------------------------------------------

// A column without gaps goes to uPlot as it lies in the buffer; one with
// NaN, which uPlot would draw, as an array with null in its place.
/** @param {Float64Array} values */
function column(values) {
  for (let i = 0; i < values.length; i++) {
    if (!Number.isFinite(values[i])) return Array.from(values, v => Number.isFinite(v) ? v : null);
  }
  return values;
}

const moves = new Map([["ArrowLeft", -1], ["ArrowRight", 1], ["Home", -Infinity], ["End", Infinity]]);

// Reader walks the buffer that Go filled.
class Reader {
  /** @param {Float64Array} all */
  constructor(all) { this.all = all; this.at = 0; }
  number() { return this.all[this.at++]; }
  /** @param {number} n */
  list(n) { return this.all.subarray(this.at, this.at += n); }
}

const none = new Float64Array(0);

class Chart {
  /** @param {HTMLElement} el @param {Spec} spec */
  constructor(el, spec) {
    this.el = el;
    this.spec = spec;
    /** @type {Shown} */
    this.now = { start: 0, end: 0, mark: NaN, since: 0, cover: 0, tallest: 1, heaviest: 1, low: 0, max: 0, range: 0, counts: none, noisy: none, changes: [] };
    this.bytes = new Uint8Array(0);
    this.filled = this.covers = 0;
    this.frame = 0;
    this.readout = document.createElement("p");
    this.readout.className = "readout";
    this.plot = new uPlot(options(spec, this.now, this.size(), this.hooks()), this.blank(), el);
    el.append(this.readout);
    /** @type {(e: KeyboardEvent) => void} */
    this.keys = e => this.key(e);
    el.addEventListener("keydown", this.keys);
    this.sizer = new ResizeObserver(() => this.plot.setSize(this.size()));
    this.sizer.observe(el);
    charts.add(this);
    savables.set(el, this);
  }

  /** @returns {Columns} */
  blank() { return /** @type {Columns} */ ([[], ...this.spec.series.map(() => [])]); }

  size() {
    return { width: Math.max(120, this.el.clientWidth), height: Math.max(40, this.el.clientHeight) };
  }

  /** @returns {import("uplot").Hooks.Arrays} */
  hooks() {
    return {
      drawClear: [u => this.under(u)],
      draw: [u => this.over(u)],
      setCursor: [u => this.read(u)],
    };
  }

  // room is a view to write n numbers into.
  /** @param {number} n */
  room(n) {
    if (this.bytes.length < 8 * n) this.bytes = new Uint8Array(8 * Math.ceil(1.5 * n));
    return this.bytes;
  }

  // draw shows what the first n numbers say, in the next frame, of runs that protect it so.
  /** @param {number} n @param {number} cover */
  draw(n, cover) {
    [this.filled, this.covers] = [n, cover];
    this.frame ||= requestAnimationFrame(() => { this.frame = 0; this.show(); });
  }

  show() {
    const r = new Reader(new Float64Array(this.bytes.buffer, 0, this.filled));
    this.now.cover = this.covers;
    this.plot.setData(this.spec.kind === "histogram" ? this.histogram(r) : this.lines(r));
  }

  /** @param {Reader} r @returns {Columns} */
  lines(r) {
    const cols = r.number(), rows = r.number();
    this.now.end = r.number();
    this.now.mark = r.number();
    this.now.since = r.number();
    const columns = /** @type {Columns} */ (Array.from({ length: cols }, () => column(r.list(rows))));
    this.now.changes = Array.from({ length: r.number() }, () => ({ line: r.number(), step: r.number(), text: changed(r.number(), r.number(), r.number()) }));
    return columns;
  }

  /** @param {Reader} r @returns {Columns} */
  histogram(r) {
    const now = this.now;
    now.start = r.number();
    now.end = r.number();
    now.mark = r.number();
    now.heaviest = r.number();
    now.low = r.number();
    now.max = r.number();
    now.counts = r.list(r.number());
    now.range = r.number();
    now.noisy = r.list(r.number());
    now.tallest = Math.max(1, ...now.counts, ...now.noisy);
    const n = r.number();
    return [r.list(n), column(r.list(n)), new Array(n).fill(null)];
  }

  /** @param {Plot} u */
  under(u) {
    if (this.spec.kind !== "histogram") return;
    bars(u, this.now.counts, this.now.low, this.now.max, "diagnostic");
    bars(u, this.now.noisy, 0, this.now.range, "released");
  }

  /** @param {Plot} u */
  over(u) {
    const { spec, now } = this;
    if (!u.data[0].length) return;
    if (!spec.x.hidden) axisName(u, spec.x.label ?? "");
    if (now.since > 0) begin(u, now.since, spec.x.hidden ? "" : `resumed at ${spec.x.label} ${short(now.since)}`);
    changes(u, spec, now);
    shapesAlong(u, spec);
    endLabels(u, spec);
    if (spec.kind === "histogram") key(u, this.keyed());
    if (Number.isFinite(now.mark) && spec.mark === "vertical") vertical(u, now.mark, spec.markLabel + " " + (formats[spec.x.format] || short)(now.mark));
    if (Number.isFinite(now.mark) && spec.mark === "horizontal") horizontal(u, now.mark, spec.markLabel + " " + (formats[spec.y.format] || short)(now.mark));
  }

  // keyed is what a histogram's key says.
  keyed() {
    /** @type {[Ink, string][]} */
    const entries = [["diagnostic", "this batch"]];
    if (this.now.noisy.length) entries.push(["released", "noisy histogram"]);
    if (Number.isFinite(this.now.mark)) entries.push(["released", "w, right axis"]);
    return entries;
  }

  /** @param {Plot} u */
  read(u) {
    const i = u.cursor.idx;
    if (i == null || (u.cursor.left ?? -1) < 0) { this.readout.textContent = ""; return; }
    const parts = [`${this.spec.x.label} ${(formats[this.spec.x.format] || short)(u.data[0][i])}`];
    this.spec.series.forEach((s, k) => {
      const v = u.data[k + 1][i], f = s.scale === "w" ? short : formats[this.spec.y.format] || short;
      if (s.label && v != null) parts.push(`${s.label} ${f(v)}`);
    });
    this.readout.textContent = parts.join("   ");
  }

  /** @param {KeyboardEvent} e */
  key(e) {
    const move = moves.get(e.key);
    const xs = this.plot.data[0];
    if (move === undefined || !xs.length) return;
    e.preventDefault();
    const i = Math.min(xs.length - 1, Math.max(0, (this.plot.cursor.idx ?? xs.length - 1) + move));
    // @ts-expect-error: the third, which uPlot's types lack, moves the charts that share the cursor
    this.plot.setCursor({ left: this.plot.valToPos(xs[i], "x"), top: 8 }, true, true);
  }

  clear() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.now.counts = this.now.noisy = none;
    this.now.changes = [];
    this.now.mark = NaN;
    this.plot.setData(this.blank());
  }

  // --- what is saved of it: save.mjs -----------------------------------

  // What a run without noise releases is from the private data as all else.
  get released() { return this.now.cover > 0 && this.spec.values === "released" && this.spec.series.every(s => s.ink !== "diagnostic"); }
  get covered() { return this.now.cover > 1; }

  /** @param {Pen} g */
  picture(g) {
    const u = /** @type {Plot} */ (Object.create(this.plot, { ctx: { value: g } })), { spec } = this;
    g.save();
    g.scale(1 / devicePixelRatio, 1 / devicePixelRatio);
    this.under(u);
    rulers(u, spec);
    g.save();
    g.beginPath();
    g.rect(u.bbox.left, u.bbox.top - 4, u.bbox.width, u.bbox.height + 8);
    g.clip();
    spec.series.forEach((s, k) => trace(u, s, u.data[k + 1]));
    g.restore();
    this.over(u);
    if (spec.x.hidden) axisName(u, spec.x.label); // a picture has no other chart under it
    g.restore();
  }

  legend() {
    /** @type {[Ink, string][]} */
    const named = this.spec.kind === "histogram" ? this.keyed() : this.spec.series.filter(s => s.label).map(s => [s.ink, s.label]);
    return named.map(([name, text]) => ({ text, colour: ink(name), dash: name === "diagnostic" ? dash : undefined }));
  }

  // table has one row for each place on the x axis; of a histogram one for each bin,
  // where those that had noise added are released.
  /** @param {boolean} diagnostic @returns {Table} */
  table(diagnostic) {
    const { spec, now, plot } = this;
    if (spec.kind === "histogram") {
      /** @type {(counts: Float64Array, low: number, max: number, row: (n: number) => (number | null)[]) => Table["rows"]} */
      const bins = (counts, low, max, row) => Array.from(counts, (n, i) => [...[i, i + 1].map(j => edge(j, counts.length, low, max)), ...row(n)]);
      if (!diagnostic) return { columns: ["from", "to", "noisy histogram"], rows: now.cover > 0 ? bins(now.noisy, 0, now.range, n => [n]) : [] };
      return {
        columns: ["from", "to", now.cover > 0 ? "noisy histogram" : "diagnostic: histogram without noise", "diagnostic: this batch"],
        rows: [...bins(now.noisy, 0, now.range, n => [n, null]), ...bins(now.counts, now.low, now.max, n => [null, n])],
      };
    }
    if (!this.released && !diagnostic) return { columns: [], rows: [] };
    const told = this.released ? "" : "diagnostic: ", names = spec.series.map(s => told + (s.label || s.name));
    // Runs that are drawn over each other have the same names.
    const columns = [spec.x.label, ...names.map((name, k) => names.indexOf(name) === names.lastIndexOf(name) ? name : `${name}, run ${names.slice(0, k + 1).filter(n => n === name).length}`)];
    return { columns, rows: Array.from(plot.data[0], (x, i) => [x, ...spec.series.map((s, k) => plot.data[k + 1][i] ?? null)]) };
  }

  redraw() { this.plot.redraw(false, true); }

  // rebuild is for another size of text, which a plot has for life.
  rebuild() {
    const { data } = this.plot;
    this.plot.destroy();
    this.plot = new uPlot(options(this.spec, this.now, this.size(), this.hooks()), data, this.el);
    this.el.append(this.readout);
  }

  destroy() {
    cancelAnimationFrame(this.frame);
    charts.delete(this);
    this.sizer.disconnect();
    this.el.removeEventListener("keydown", this.keys);
    this.plot.destroy();
    this.readout.remove();
  }
}

// --- the theme: theme.js finds it again ----------------------------------

/** @param {string} theme */
function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  try { localStorage.setItem("clipscope-theme", theme); } catch { /* private mode: not kept */ }
  repaint();
}

function dark() {
  const theme = document.documentElement.dataset.theme;
  return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

// Paper is white whatever the screen is.
/** @type {string | undefined} */
let onScreen;
addEventListener("beforeprint", () => {
  onScreen = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light";
  repaint();
});
addEventListener("afterprint", () => {
  if (onScreen) document.documentElement.dataset.theme = onScreen;
  else delete document.documentElement.dataset.theme;
  repaint();
});

// keepIcon puts the icon itself in place of its address: browsers ask for the
// icon again whenever the address of the page changes, and that would be a
// request without a reason.
async function keepIcon() {
  const links = [.../** @type {NodeListOf<HTMLLinkElement>} */ (document.querySelectorAll('link[rel="icon"]'))];
  const link = links.find(l => l.href.endsWith(".svg"));
  if (!link) return;
  const svg = await (await fetch(link.href)).text();
  link.href = "data:image/svg+xml," + encodeURIComponent(svg);
  for (const l of links) if (l !== link) l.remove();
}
keepIcon().catch(() => {}); // then it stays as it is

// --- requests ------------------------------------------------------------

// watchRequests tells fn the names of the requests that left the page for the
// network since the trainer answered. An answer from the browser's own cache has a transfer
// size of 0 and is not one; what another origin answered has 0 as well, and is.
/** @param {(count: number, last: string) => void} fn */
async function watchRequests(fn) {
  if (!await clipscope.ready.then(() => true, () => false)) return;
  const since = performance.now();
  /** @type {string[]} */
  const seen = [];
  /** @param {PerformanceResourceTiming} e */
  const sent = e => e.startTime >= since && /^https?:/.test(e.name) &&
    (e.transferSize > 0 || new URL(e.name).origin !== location.origin);
  const add = (/** @type {string[]} */ names) => {
    if (!names.length) return;
    seen.push(...names);
    fn(seen.length, seen.slice(-5).map(n => n.replace(location.origin, "")).join("\n"));
  };
  const look = (/** @type {PerformanceEntryList} */ all) => add(/** @type {PerformanceResourceTiming[]} */ (all).filter(sent).map(e => e.name));
  asking.add(add);
  if ("PerformanceObserver" in window) new PerformanceObserver(list => look(list.getEntries())).observe({ type: "resource", buffered: false });
  else { // then what the browser has noted is read every second
    performance.setResourceTimingBufferSize(100_000);
    let read = 0;
    setInterval(() => {
      const all = performance.getEntriesByType("resource");
      look(all.slice(read));
      read = all.length;
    }, 1000);
  }
  fn(0, "");
}

// --- files ---------------------------------------------------------------

// A file that is dropped beside the page's own target must not replace the page.
for (const type of /** @type {const} */ (["dragover", "drop"])) {
  addEventListener(type, e => { if ([...e.dataTransfer?.types ?? []].includes("Files")) e.preventDefault(); });
}

// --- the rest ------------------------------------------------------------

// shown calls f with an element once what is about to change has been drawn, and
// again as long as f is not content: under load that takes more frames than two.
/** @param {string} id @param {(e: HTMLElement) => boolean} f */
function shown(id, f, patience = 60) {
  requestAnimationFrame(() => requestAnimationFrame(() => {
    const e = document.getElementById(id);
    if (!(e && f(e)) && patience > 0) shown(id, f, patience - 1);
  }));
}

// follow brings something in sight with into, and again as what is watched grows by what
// then arrives, which moves it, and stops a smooth scroll: until the person acts, or has
// had time to, as a bar that is dragged tells nobody.
let letGo = () => {};
for (const act of ["pointerdown", "wheel", "touchstart", "keydown"]) addEventListener(act, () => letGo(), { capture: true, passive: true });
/** @param {Element} watched @param {() => void} into */
function follow(watched, into) {
  letGo();
  const grows = new ResizeObserver(into); // which tells of the size at once
  grows.observe(watched);
  letGo = () => grows.disconnect();
  setTimeout(() => grows.disconnect(), 10_000);
}

// reveal scrolls so that an element which is about to change is in sight.
/** @param {string} id */
const reveal = (id) => shown(id, e => {
  follow(e, () => {
    const box = e.parentElement;
    const above = box && e.getBoundingClientRect().top < box.getBoundingClientRect().top;
    e.scrollIntoView({ block: above ? "start" : "nearest" });
  });
  return true;
});

// below tells the browser what the open lesson, which stays at the top, covers of the
// window: nothing is to come to lie under it.
function below() {
  const lesson = document.querySelector(".lessons:has(.lesson)");
  const stays = lesson && getComputedStyle(lesson).position === "sticky";
  const covered = stays ? lesson.getBoundingClientRect().height : 0;
  document.documentElement.style.setProperty("--stays", `${covered}px`);
  return covered;
}
addEventListener("keydown", e => { if (e.key === "Tab") below(); }, true);

const TITLE = 40; // a title's height, in pixels

// scroll brings an element in sight that is not, with a title's height above it.
/** @param {string} id */
const scroll = (id) => shown(id, () => {
  follow(document.body, () => {
    const e = document.getElementById(id), covered = below(); // it may have been made anew
    if (!e) return;
    e.style.scrollMarginTop = `calc(var(--stays) + ${TITLE}px)`;
    // Of what is longer than the window its beginning is meant.
    const block = e.getBoundingClientRect().top < covered + TITLE ? "start" : "nearest";
    e.scrollIntoView({ block, behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
  });
  return true;
});

/** @param {HTMLElement} e */
function focused(e) {
  e.focus();
  return document.activeElement === e;
}

// focus does not wait where it need not: the element may soon be another.
/** @param {string} id */
function focus(id) {
  const now = document.getElementById(id);
  if (!now || !focused(now)) shown(id, focused);
}

// keepPlace gives the focus back to what stands in the place of what has it now, and is about to be made anew, and
// unfolds what stands in the place of what is unfolded.
function keepPlace() {
  const old = document.activeElement;
  if (old?.id) shown(old.id, e => e !== old && (document.activeElement !== document.body || focused(e)));
  for (const part of document.querySelectorAll("details[open][id]")) shown(part.id, (e) => e !== part && ((/** @type {HTMLDetailsElement} */ (e)).open = true));
}

// stringify is a value for the page's Go side to read.
/** @param {unknown} v */
export const stringify = (v) => say(v) ?? "null";

// result is a run's result without its parameters, which may be millions, and what
// it takes to apply them, which the page does not look at, and without its
// thresholds, one for each step, which the page takes as they lie in memory.
/** @param {Result} r */
function result(r) {
  return stringify({ ...r, released: { ...r.released, parameters: undefined, apply: undefined, max_grad_norm: undefined } });
}

/** @param {Result} r */
const thresholds = (r) => new Uint8Array(Float64Array.from(r.released.max_grad_norm ?? []).buffer);

// saveModel downloads a result's model in a form; written is told how many bytes there
// are so far.
/** @param {string} form @param {string} name @param {Result} r @param {string} config that made it, as JSON @param {(bytes: number) => void} written */
async function saveModel(form, name, r, config, written) {
  const file = await clipscope.convert({ ...r, config: JSON.parse(config) }, form, { onProgress: written });
  download(name, file.type, file);
}

// namedModel is a result that clipscope.load takes, with what made it, under a name.
/** @param {string} name @param {Result} r @param {string} config that made it, as JSON */
const namedModel = (name, r, config) => ({ ...r, config: JSON.parse(config), name });

// pixels gives a canvas the size of an image and paints it of base64 bytes, in grey, or in
// colour where there are three times as many as the shape asks for.
/** @param {HTMLCanvasElement} canvas @param {string} base64 @param {number} height @param {number} width */
function pixels(canvas, base64, height, width) {
  const raw = atob(base64), n = height * width, colour = raw.length >= 3 * n;
  canvas.height = height;
  canvas.width = width;
  const ctx = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d")), image = ctx.createImageData(width, height);
  for (let i = 0; i < n; i++) {
    for (let c = 0; c < 3; c++) image.data[4 * i + c] = raw.charCodeAt(colour ? c * n + i : i);
    image.data[4 * i + 3] = 255;
  }
  ctx.putImageData(image, 0, 0);
}

// --- for a room ----------------------------------------------------------

// presented has the address say whether the page is in big type, which a link to another
// page does not, and the button in the page's head.
function presented() {
  const url = new URL(location.href), on = document.documentElement.dataset.present !== undefined;
  if (url.searchParams.has("present") !== on) {
    if (on) url.search += url.search ? "&present" : "?present";
    else url.searchParams.delete("present");
    history.replaceState(history.state, "", url);
  }
  document.querySelector(".present")?.setAttribute("aria-pressed", String(on));
}

function present() {
  document.documentElement.toggleAttribute("data-present");
  presented();
  for (const c of charts) c.rebuild();
  for (const paint of painters) paint();
}

// address is the page's as it is given to others, who neither present nor frame it.
function address() {
  const url = new URL(location.href);
  for (const name of ["present", "embed"]) url.searchParams.delete(name);
  return url.href;
}

addEventListener("keydown", (e) => {
  if (e.code !== "KeyP" || !e.altKey || e.ctrlKey || e.metaKey || e.shiftKey) return;
  e.preventDefault();
  present();
});

// cover has what a device closes things with press a button while something covers the page.
/** @type {any} */
let watcher = null;
/** @param {boolean} covered @param {string} selector */
function cover(covered, selector) {
  watcher?.destroy();
  watcher = null;
  if (!covered || !("CloseWatcher" in window)) return;
  watcher = new /** @type {any} */ (window).CloseWatcher();
  watcher.onclose = () => /** @type {HTMLElement | null} */ (document.querySelector(selector))?.click();
}

// What few ask for is loaded when it is asked for. Such buttons say by data-opens what
// they are for: it takes none of the program.
/** @type {Record<string, (b: HTMLElement) => void>} */
const openers = {
  present,
  qr: async (b) => (await import(new URL("qr.js", base).href)).show(b.dataset.text ?? address(), b.dataset.title),
  save: async (b) => {
    const chart = b.closest(".figure-box, .lab-pane")?.querySelector(".plot, .lab-board"), savable = chart && savables.get(chart);
    if (savable) (await import(new URL("save.js", base).href)).offer(b.dataset.title, savable);
  },
};
document.addEventListener("click", (e) => {
  const b = e.target instanceof Element && e.target.closest("[data-opens]");
  if (b instanceof HTMLElement) openers[b.dataset.opens ?? ""]?.(b);
});
presented();

// ui is what the page's Go side calls.
export const ui = {
  chart: (/** @type {HTMLElement} */ el, /** @type {string} */ spec) => new Chart(el, JSON.parse(spec)),
  dark, setTheme, watchRequests, download, reveal, scroll, focus, keepPlace, roundUp, stringify, result, thresholds, saveModel, namedModel, pixels, presented,
  address, cover,
};
