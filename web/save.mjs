// Saves what a chart shows: as a picture, SVG or PNG, drawn by the chart itself, or as its
// numbers, CSV or JSON. It is loaded when the first one is asked for.
//
// Guarantee: without the tick a file has released values alone. What a chart does not say is
// released counts as diagnostic, and so does all that runs without noise say; a picture that
// shows any is diagnostic as a whole, as its axes follow what it shows.
import { readInks } from "./ink.js";
import { button, download, sheet } from "./sheet.js";
import { say } from "./wire.js";
/** @import { Pen, Savable, Table } from "./types.d.ts" */

const EDGE = 16; // CSS pixels around all
const HEAD = 48; // of the title and what kind of values these are
const LINE = 20; // from one row of the legend to the next
const SAMPLE = 20; // of a line, before its name
const FONT = "12px system-ui, sans-serif", BOLD = "600 16px system-ui, sans-serif";
const SHARP = 2; // pixels of a PNG for one of CSS, for projectors and print

// WARNING is what the exports of a run say (ui/export).
const WARNING = "The fields named diagnostic were computed from the private data without noise. The guarantee does not cover them: whoever sees them may learn about single rows.";

// TAUGHT is of released values that no guarantee covers, as where the seed is fixed.
const TAUGHT = "The run carries no guarantee: what it released does not protect the rows that it was trained on.";

/** @param {string} s */
const escaped = (s) => s.replace(/[\p{Cc}\ufffe\uffff]/gu, " ").replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
/** @param {number} v */
const short = (v) => String(Math.round(v * 100) / 100);

// Path is as much of a Path2D as the charts draw.
class Path {
  d = "";
  /** @param {string} op @param {number[]} at */
  go(op, ...at) { this.d += op + at.map(short).join(" "); }
  /** @param {number} x @param {number} y */
  moveTo(x, y) { this.go("M", x, y); }
  /** @param {number} x @param {number} y */
  lineTo(x, y) { this.go(this.d ? "L" : "M", x, y); }
  closePath() { this.d += "Z"; }
  /** @param {number} x @param {number} y @param {number} w @param {number} h */
  rect(x, y, w, h) {
    this.moveTo(x, y);
    this.d += `h${short(w)}v${short(h)}h${short(-w)}Z`;
  }
  // arc goes in two halves: SVG has no arc that ends where it begins.
  /** @param {number} x @param {number} y @param {number} r @param {number} from @param {number} to */
  arc(x, y, r, from, to) {
    this.lineTo(x + r * Math.cos(from), y + r * Math.sin(from));
    for (const a of [(from + to) / 2, to]) this.go("A", r, r, 0, 0, Number(to > from), x + r * Math.cos(a), y + r * Math.sin(a));
  }
  /** @param {Path} p */
  addPath(p) { this.d += p.d; }
}

// What a canvas's context remembers from save to restore.
const look = {
  fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, lineCap: "butt", lineJoin: "miter", globalAlpha: 1,
  font: "10px sans-serif", textAlign: "left", textBaseline: "alphabetic",
  /** @type {number[]} */
  dash: [],
  /** @type {string[]} */
  open: [], // elements, by what closes them
};

// Sketch is as much of a canvas's context as the charts draw with, and writes SVG.
export class Sketch {
  /** @type {string[]} */
  out = [];
  /** @type {(typeof look)[]} */
  kept = [];
  now = new Path();
  constructor() { Object.assign(this, look, { dash: [], open: [] }); }
  /** @returns {typeof look} */
  get look() { return /** @type {any} */ (this); }
  path() { return new Path(); }

  save() {
    this.kept.push(/** @type {any} */ (Object.fromEntries(Object.keys(look).map((k) => [k, /** @type {any} */ (this)[k]]))));
    this.look.open = [];
  }
  restore() {
    this.out.push(...this.look.open.reverse());
    Object.assign(this, this.kept.pop());
  }
  /** @param {string} element @param {string} attributes */
  begin(element, attributes) {
    this.out.push(`<${element} ${attributes}>`);
    this.look.open.push(`</${element}>`);
  }
  /** @param {number} x @param {number} y */
  scale(x, y) { this.begin("g", `transform="scale(${x} ${y})"`); }
  /** @param {number} x @param {number} y */
  translate(x, y) { this.begin("g", `transform="translate(${short(x)} ${short(y)})"`); }
  // clip is to a rectangle, which all of the charts' are: an svg within clips without a
  // name, of which two files in one page might have the same.
  clip() {
    const [, x, y, w, h] = /^M(\S+) (\S+)h(\S+)v(\S+)h\S+Z$/.exec(this.now.d) ?? [];
    if (h === undefined) throw new Error("save: a clip that is not one rectangle");
    this.begin("svg", `x="${x}" y="${y}" width="${w}" height="${h}" viewBox="${x} ${y} ${w} ${h}" overflow="hidden"`);
  }

  beginPath() { this.now = new Path(); }
  /** @param {number} x @param {number} y */
  moveTo(x, y) { this.now.moveTo(x, y); }
  /** @param {number} x @param {number} y */
  lineTo(x, y) { this.now.lineTo(x, y); }
  closePath() { this.now.closePath(); }
  /** @param {number} x @param {number} y @param {number} w @param {number} h */
  rect(x, y, w, h) { this.now.rect(x, y, w, h); }
  /** @param {number} x @param {number} y @param {number} r @param {number} from @param {number} to */
  arc(x, y, r, from, to) { this.now.arc(x, y, r, from, to); }
  /** @param {number} x @param {number} y @param {number} w @param {number} h */
  fillRect(x, y, w, h) {
    const p = new Path();
    p.rect(x, y, w, h);
    this.fill(p);
  }
  /** @param {number[]} dash */
  setLineDash(dash) { this.look.dash = dash; }

  fill(p = this.now) { if (p.d) this.out.push(`<path d="${p.d}" ${this.filled()}/>`); }
  stroke(p = this.now) { if (p.d) this.out.push(`<path d="${p.d}" ${this.stroked()}/>`); }
  filled() { return `fill="${escaped(this.look.fillStyle)}"${this.faint()}`; }
  stroked() {
    const { strokeStyle, lineWidth, lineCap, lineJoin, dash } = this.look;
    return `fill="none" stroke="${escaped(strokeStyle)}" stroke-width="${short(lineWidth)}" stroke-linecap="${lineCap}" stroke-linejoin="${lineJoin}"` +
      (dash.length ? ` stroke-dasharray="${dash.map(short).join(" ")}"` : "") + this.faint();
  }
  faint() { return this.look.globalAlpha < 1 ? ` opacity="${this.look.globalAlpha}"` : ""; }

  /** @param {string} text @param {number} x @param {number} y */
  fillText(text, x, y) { this.text(text, x, y, this.filled()); }
  // Its rim is not read a second time.
  /** @param {string} text @param {number} x @param {number} y */
  strokeText(text, x, y) { this.text(text, x, y, this.stroked() + ' aria-hidden="true"'); }
  /** @param {string} text @param {number} x @param {number} y @param {string} how */
  text(text, x, y, how) {
    if (!text) return;
    const { font, textAlign, textBaseline } = this.look, [, weight = "400", size = "10", family = "sans-serif"] = /^(?:(\d+) )?([\d.]+)px (.*)$/.exec(font) ?? [];
    // Half of a letter's height lower: not all programs know SVG's baselines.
    const down = textBaseline === "middle" ? 0.35 * Number(size) : 0, anchor = { center: "middle", right: "end" }[textAlign] ?? "start";
    const letters = `font-family="${escaped(family)}" font-size="${short(Number(size))}" font-weight="${weight}"`;
    this.out.push(`<text x="${short(x)}" y="${short(y + down)}" ${letters} text-anchor="${anchor}" ${how}>${escaped(text)}</text>`);
  }
  /** @param {string} text */
  measureText(text) { return measured(text, this.look.font); }

  // svg is all of it.
  /** @param {string} title @param {number} width @param {number} height */
  svg(title, width, height) {
    const size = `width="${short(width)}" height="${short(height)}" viewBox="0 0 ${short(width)} ${short(height)}"`;
    return `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img">\n<title>${escaped(title)}</title>\n${this.out.join("\n")}\n</svg>\n`;
  }
}

/** @type {CanvasRenderingContext2D | undefined} */
let ruler;
/** @param {string} text @param {string} font */
function measured(text, font) {
  ruler ??= /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
  ruler.font = font;
  return ruler.measureText(text);
}

// laid is where everything stands, and how large the picture is.
/** @param {string} title @param {Savable} chart */
function laid(title, chart) {
  const { width, height } = chart.size(), kind = chart.released ? chart.covered ? "released" : "released by a run without a guarantee" : "diagnostic: from the private data without noise";
  const wide = Math.max(width, measured(title, BOLD).width, measured(kind, FONT).width);
  let x = 0, y = HEAD + height + EDGE + LINE; // a row of ticks may stand under the chart
  const legend = chart.legend().map((entry) => {
    const w = SAMPLE + 6 + measured(entry.text, FONT).width;
    if (x > 0 && x + w > wide) [x, y] = [0, y + LINE];
    const at = { ...entry, x: EDGE + x, y };
    x += w + EDGE;
    return at;
  });
  return { kind, legend, width: Math.ceil(wide + 2 * EDGE), height: Math.ceil(y + EDGE) };
}

/** @param {Pen} g @param {string} title @param {Savable} chart @param {ReturnType<typeof laid>} on */
function draw(g, title, chart, on) {
  const inks = readInks();
  g.fillStyle = inks.surface;
  g.fillRect(0, 0, on.width, on.height);
  /** @type {(text: string, x: number, y: number, font: string, colour: string) => void} */
  const write = (text, x, y, font, colour) => {
    Object.assign(g, { font, textBaseline: "middle", textAlign: "left", fillStyle: colour });
    g.fillText(text, x, y);
  };
  write(title, EDGE, 18, BOLD, inks.text);
  write(on.kind, EDGE, 36, FONT, inks[chart.released ? "released" : "diagnostic"]);
  g.save();
  g.translate(EDGE, HEAD);
  chart.picture(g);
  g.restore();
  for (const { text, colour, dash, x, y } of on.legend) {
    Object.assign(g, { strokeStyle: colour, lineWidth: 2 });
    g.setLineDash(dash ?? []);
    g.beginPath();
    g.moveTo(x, y);
    g.lineTo(x + SAMPLE, y);
    g.stroke();
    write(text, x + SAMPLE + 6, y, FONT, inks.text);
  }
}

/** @param {string} title @param {Savable} chart */
function svg(title, chart) {
  const on = laid(title, chart), pen = new Sketch();
  draw(/** @type {any} */ (pen), title, chart, on);
  return pen.svg(title, on.width, on.height);
}

/** @param {string} title @param {Savable} chart @returns {Promise<Blob>} */
function png(title, chart) {
  const on = laid(title, chart), canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [SHARP * on.width, SHARP * on.height];
  const g = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  g.scale(SHARP, SHARP);
  draw(g, title, chart, on);
  return new Promise((resolve, reject) => {
    canvas.toBlob((b) => { if (b) resolve(b); else reject(new Error("This browser made no picture of it. SVG may do.")); });
  });
}

// cell is one of CSV: numbers as they are, and texts, which may be anybody's, as what no
// spreadsheet runs.
/** @param {string | number | null} v */
function cell(v) {
  if (typeof v !== "string") return v === null ? "" : String(v);
  const inert = /^[=+\-@\t\r\n]/.test(v) ? "'" + v : v;
  return /[",\r\n]|^\s|\s$/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}

/** @param {Table} table */
export const csv = ({ columns, rows }) => [columns, ...rows].map((r) => r.map(cell).join(",") + "\n").join("");

/** @param {string} title @param {Savable} chart @param {boolean} diagnostic */
function json(title, chart, diagnostic) {
  const { columns, rows } = chart.table(diagnostic);
  return say({ program: "Clipscope", title, warning: diagnostic ? WARNING : chart.covered ? undefined : TAUGHT, columns, rows }, 1) + "\n";
}

/** @type {Record<string, { type: string, of: (title: string, chart: Savable, diagnostic: boolean) => BlobPart | Promise<BlobPart> }>} */
const kinds = {
  svg: { type: "image/svg+xml", of: svg },
  png: { type: "image/png", of: png },
  csv: { type: "text/csv", of: (_, chart, diagnostic) => csv(chart.table(diagnostic)) },
  json: { type: "application/json", of: json },
};

// named is a file's name: what it shows, and whether it is to be kept from others.
/** @param {string} title @param {boolean} open to all @param {string} kind */
export function named(title, open, kind) {
  const words = title.toLowerCase().match(/[\p{L}\p{N}]+/gu)?.join("-") ?? "chart";
  return `clipscope-${words.slice(0, 60)}${open ? "" : "-not-private"}.${kind}`;
}

// refused says why a file may not be written, or "".
/** @param {Savable} chart @param {string} kind @param {boolean} diagnostic was asked for */
export function refused(chart, kind, diagnostic) {
  if (!chart.table(true).rows.length) return "There is nothing in this chart yet.";
  if (chart.released || diagnostic) return "";
  const tick = "Tick “diagnostic values, too” if it is to be saved all the same.";
  if (!chart.table(false).rows.length) return "All of this chart is diagnostic. " + tick;
  return kind === "svg" || kind === "png" ? "The picture shows diagnostic values. " + tick : "";
}

/** @param {Savable} chart */
function about(chart) {
  if (chart.released) return chart.covered ? "All that this chart shows is released: it may be published." : "All that this chart shows is released. " + TAUGHT;
  if (chart.table(false).rows.length) return "Some of these numbers are released, and alone in CSV and JSON. The others, and the picture, are from the private data without noise: for your eyes only.";
  return "All of this chart is diagnostic, from the private data without noise: for your eyes only.";
}

// offer asks what of a chart is to be saved.
/** @param {string} title @param {Savable} chart */
export function offer(title, chart) {
  const what = document.createElement("p"), said = document.createElement("p"), how = document.createElement("p"), label = document.createElement("label"), tick = document.createElement("input");
  what.textContent = about(chart);
  said.setAttribute("role", "status");
  tick.type = "checkbox";
  label.className = "tick";
  label.append(tick, " diagnostic values, too");
  label.hidden = chart.released;
  how.className = "help";
  how.textContent = "A click writes a file: SVG and PNG are the picture, CSV and JSON its numbers.";
  const save = async (/** @type {string} */ kind) => {
    const diagnostic = !chart.released && tick.checked, name = named(title, !diagnostic, kind);
    said.textContent = refused(chart, kind, diagnostic);
    if (said.textContent) return;
    try {
      download(name, kinds[kind].type, await kinds[kind].of(title, chart, diagnostic));
      said.textContent = `Saved as ${name}.`;
    } catch (e) {
      said.textContent = e.message;
    }
  };
  sheet("Save: " + title, what, label, how, ...Object.keys(kinds).map((kind) => button(kind.toUpperCase(), () => save(kind))), said);
}
