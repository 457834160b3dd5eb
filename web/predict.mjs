#!/usr/bin/env node
// Applies a model that Clipscope saved, with nothing else of it, in Node, Deno or a page:
//
//	node predict.mjs model.json rows.csv > answers.csv
//
//	import { load } from "./predict.mjs";
//	const model = load(text); // or the bytes of a safetensors file
//	const { answer, outputs } = model.predict(cells); // texts of a row, or numbers
//	model.predict(model.picture({ data, width, height })); // of a picture, such as an ImageData
//
// docs/applying.md says what is done here, step by step.

/**
 * @typedef {{ name: string, kind: string, first: number, decimal?: string, thousands?: string, date?: string, categories?: string[],
 *   units?: string[], time?: string, offset?: number, clock?: number,
 *   buckets?: number, tokens?: number, if_missing?: number, indicator?: number }} Column
 * @typedef {{ layer: string, shape: number[], parameters: number }} Layer
 * @typedef {{ task: string, outputs: number, classes?: string[], features: number, shape?: number[], transform?: string, columns?: Column[],
 *   scaling: { kind: string, lo?: number[], hi?: number[], left_out?: string },
 *   pca?: { components: number, directions?: string, left_out?: string }, max_norm?: number, channels_last?: boolean, features_of?: { sha256: string, output: string, tokenizer_sha256?: string }, layers: Layer[] }} Apply
 */

// load reads a model: the text of its JSON, or the bytes of its safetensors file.
/** @param {string | Uint8Array} file */
export function load(file) {
  const { apply, parameters } = typeof file === "string" ? fromText(file) : fromTensors(file);
  if (!apply) throw new Error("This file has parameters, and not what it takes to apply them: it was saved by an earlier version. Train it again, from the configuration of its run, and save that.");
  for (const part of [apply.scaling, apply.pca]) if (part?.left_out) throw new Error(part.left_out);
  return new Model(apply, parameters);
}

/** @param {string} text @returns {{ apply: Apply, parameters: Float32Array }} */
function fromText(text) {
  const { apply, parameters } = JSON.parse(text, (_, v) => v?.$numberDouble === undefined ? v : Number(v.$numberDouble));
  return { apply, parameters: Float32Array.from(parameters ?? []) };
}

/** @param {Uint8Array} bytes @returns {{ apply: Apply, parameters: Float32Array }} */
function fromTensors(bytes) {
  const length = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true)), from = 8 + length;
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, from)));
  return { apply: JSON.parse(header.__metadata__?.apply ?? "null"), parameters: new Float32Array(bytes.slice(from).buffer) };
}

// Model is a model that was loaded.
export class Model {
  /** @param {Apply} apply @param {Float32Array} parameters */
  constructor(apply, parameters) {
    const all = apply.layers.reduce((sum, l) => sum + l.parameters, 0);
    if (all !== parameters.length) throw new Error(`The file has ${parameters.length} parameters, and its layers take ${all}.`);
    this.apply = apply;
    this.parameters = parameters;
  }

  // predict answers a row: its cells as texts, by the columns' names or in their order, or
  // its features as numbers. The answer is a class, the labels that are on, or a number;
  // outputs are the probabilities of the classes or labels, or the numbers.
  /** @param {Record<string, string> | string[] | ArrayLike<number>} row */
  predict(row) {
    const { task, classes } = this.apply, numbers = typeof row.length === "number" && typeof row[0] !== "string";
    const z = this.outputs(numbers ? Float64Array.from(/** @type {ArrayLike<number>} */ (row)) : this.features(/** @type {Record<string, string> | string[]} */ (row)));
    if (task === "regression") return { answer: z.length === 1 ? z[0] : [...z], outputs: [...z] };
    const name = (/** @type {number} */ k) => classes?.[k] ?? String(k);
    if (task === "multi-label") {
      const outputs = [...z].map((v) => 1 / (1 + Math.exp(-v)));
      return { answer: outputs.flatMap((p, k) => p > 0.5 ? [name(k)] : []), outputs };
    }
    const most = Math.max(...z), shares = [...z].map((v) => Math.exp(v - most)), sum = shares.reduce((a, b) => a + b);
    return { answer: name(z.indexOf(most)), outputs: shares.map((v) => v / sum) };
  }

  // features are what becomes of a row's cells. One that is not given is missing.
  /** @param {Record<string, string> | string[]} cells */
  features(cells) {
    const { columns, features } = this.apply, x = new Float64Array(features);
    if (this.apply.features_of) throw new Error(needed(this.apply.features_of));
    if (!columns) throw new Error("This model was trained on pictures or numbers, not on a table: give features as numbers, of a picture by picture().");
    for (const [i, c] of columns.entries()) {
      const given = Array.isArray(cells) ? cells[i] : Object.hasOwn(cells, c.name) ? cells[c.name] : undefined;
      if (typeof (given ?? "") !== "string") throw new Error(`Column "${c.name}" has ${given}: give cells as texts.`);
      const cell = trim(given ?? ""), gone = missing(cell) || c.kind === "numeric" && NO_NUMBER.has(cell.toLowerCase());
      if (c.kind === "numeric" && gone) {
        if (c.if_missing === undefined) throw new Error(`Column "${c.name}" is missing, and there were no such rows in training.`);
        x[c.first] = Math.fround(c.if_missing - (c.offset ?? 0));
        if (c.indicator) x[c.indicator] = 1;
      } else if (c.kind === "numeric") {
        const v = value(cell, c);
        x[c.first] = Math.fround(v - (c.offset ?? 0));
        if (!Number.isFinite(Math.fround(v))) throw new Error(`Column "${c.name}" has "${cell}", which is no ${c.date ? "date" : c.time ? `time (${c.time})` : "number"}${Number.isNaN(v) ? "" : " below 3.4e38"}.`);
        if (c.clock) x[c.clock] = Math.fround(v - Math.floor(v));
      } else if (c.kind === "text") {
        if (!missing(cell)) for (const [bucket, v] of hashedWords(cell, c.buckets ?? 1)) x[c.first + bucket] = v;
      } else if (c.kind === "letters" || c.kind === "words") {
        const tokens = gone ? [] : c.kind === "letters" ? letterTokens(cell) : wordTokens(cell, c.buckets ?? 1);
        x.fill(-1, c.first, c.first + (c.tokens ?? 0)).set(tokens.slice(0, c.tokens), c.first);
      } else if (c.kind === "categorical") {
        const categories = c.categories ?? [], own = categories.indexOf(cell); // also in a model from before cell was a word for a missing one
        const k = !gone && c.buckets ? hash(cell) % c.buckets : gone && own < 0 ? categories.indexOf("(missing)") : own;
        if (k >= 0) x[c.first + k] = 1;
      }
    }
    return x;
  }

  // picture brings an upright picture to the model's shape, as training did, and returns its
  // features. data has 1 (grey), 3 (red, green, blue) or 4 bytes (and opacity) a pixel, row by row.
  /** @param {{ data: ArrayLike<number>, width: number, height: number }} picture */
  picture({ data, width, height }) {
    const { shape = [], transform = "stretch" } = this.apply, [down, across] = shape.slice(-2), planes = shape.length === 3 ? shape[0] : 1;
    const samples = data.length / (width * height);
    if (shape.length < 2 || planes !== 1 && planes !== 3) throw new Error("This model was not trained on pictures.");
    if (![1, 3, 4].includes(samples)) throw new Error(`A picture of ${width}×${height} has ${data.length} bytes: give 1, 3 or 4 a pixel.`);
    const seen = unmixed(data, samples, planes), { from, to } = placed(transform, [width, height], [across, down]);
    const wide = triangles(from.w, to.w), high = triangles(from.h, to.h), x = new Float64Array(planes * down * across);
    for (let p = 0; p < planes; p++) {
      const middle = Array.from({ length: from.h }, (_, r) => wide.map(({ first, weights }) => mean(weights, (k) => seen[((from.y + r) * width + from.x + first + k) * planes + p])));
      high.forEach(({ first, weights }, r) => wide.forEach((_, c) => {
        x[(p * down + to.y + r) * across + to.x + c] = mean(weights, (k) => middle[first + k][c]);
      }));
    }
    return x;
  }

  // outputs are what the layers make of features.
  /** @param {Float64Array} x */
  outputs(x) {
    const a = this.apply;
    if (x.length !== a.features) throw new Error(`A row has ${x.length} features, and the model takes ${a.features}.`);
    const { lo, hi, kind } = a.scaling;
    if (lo && hi) {
      const dense = a.features - (a.columns ?? []).reduce((sum, c) => sum + (c.kind === "text" ? c.buckets ?? 0 : 0), 0);
      x = x.map((v, i) => {
        if (i >= dense) return v; // of a text, which has length 1 as it is
        const k = Math.min(i, lo.length - 1);
        return Math.min(1, Math.max(0, (v - lo[k]) / (hi[k] - lo[k])));
      });
    }
    const length = () => Math.sqrt(x.reduce((sum, v) => sum + v * v, 0)), shorter = (/** @type {number} */ by) => { x = x.map((v) => v / by); };
    if (kind === "row" || a.pca) shorter(length() || 1);
    if (a.max_norm) shorter(Math.max(1, length() / a.max_norm));
    if (a.pca) x = project(x, a.pca);
    if (a.channels_last && a.shape) {
      const planes = a.shape[0], size = x.length / planes, was = x;
      x = was.map((_, i) => was[i % planes * size + Math.floor(i / planes)]);
    }
    const z = chain(a, this.parameters, x);
    if (!z.every(Number.isFinite)) throw new Error("The outputs are not finite numbers: the model's parameters, or the row's, are too large or none.");
    return z;
  }
}

// --- pictures, in whole numbers ---

// unmixed is a picture on white, of so many planes, all of a pixel together.
/** @param {ArrayLike<number>} data @param {number} samples @param {number} planes */
function unmixed(data, samples, planes) {
  const n = data.length / samples, seen = new Uint8Array(n * planes);
  for (let i = 0; i < n; i++) {
    const on = (/** @type {number} */ v) => samples < 4 ? v : Math.floor(v * 257 * data[4 * i + 3] / 255) + 0xffff - 257 * data[4 * i + 3] >> 8;
    const [r, g, b] = [0, 1, 2].map((c) => on(data[samples * i + (samples > 1 ? c : 0)]));
    if (planes === 3) seen.set([r, g, b], 3 * i);
    else seen[i] = samples === 1 ? r : 19595 * r + 38470 * g + 7471 * b + 0x8000 >> 16;
  }
  return seen;
}

// placed are the part of a picture that is shown, and the part of the frame that shows it.
/** @param {string} transform @param {number[]} size @param {number[]} frame */
function placed(transform, [w, h], [across, down]) {
  const share = (/** @type {number} */ of, /** @type {number} */ a, /** @type {number} */ b) => Math.max(1, Math.floor((2 * of * a + b) / (2 * b)));
  const middle = (/** @type {number[]} */ [W, H], /** @type {number} */ w, /** @type {number} */ h) => ({ x: Math.floor((W - w) / 2), y: Math.floor((H - h) / 2), w, h });
  const wider = w * down > h * across;
  let from = middle([w, h], w, h), to = middle([across, down], across, down);
  if (transform === "fit") to = wider ? middle([across, down], across, share(across, h, w)) : middle([across, down], share(down, w, h), down);
  if (transform === "crop") from = wider ? middle([w, h], share(h, across, down), h) : middle([w, h], w, share(w, down, across));
  return { from, to };
}

// triangles are, for each of to pixels, the first of the from pixels that it is a mean of, and
// their weights, of which 16384 make 1.
/** @param {number} from @param {number} to */
function triangles(from, to) {
  const reach = 2 * Math.max(from, to);
  return Array.from({ length: to }, (_, i) => {
    const centre = (2 * i + 1) * from, first = Math.max(0, Math.trunc((centre - reach) / (2 * to))), parts = [];
    for (let j = first; j < from; j++) {
      const d = Math.abs((2 * j + 1) * to - centre);
      if ((2 * j + 1) * to > centre && d >= reach) break;
      parts.push(Math.max(0, reach - d));
    }
    const sum = parts.reduce((a, b) => a + b), weights = parts.map((w) => Math.floor(w * 16384 / sum));
    weights[parts.indexOf(Math.max(...parts))] += 16384 - weights.reduce((a, b) => a + b);
    return { first, weights };
  });
}

/** @param {number[]} weights @param {(k: number) => number} value */
const mean = (weights, value) => weights.reduce((sum, w, k) => sum + w * value(k), 8192) >> 14;

// needed says what a model lacks that was trained on what another makes of rows.
/** @param {{ sha256: string, output: string, tokenizer_sha256?: string }} backbone */
const needed = ({ sha256, output, tokenizer_sha256: by }) => `This model was trained on features: the output ${output} of the model whose file has the SHA-256 ${sha256}${by ? `, with the tokenizer whose file has ${by}` : ""}. Give what that makes of a row, as numbers.`;

// project is step 4: the row along each direction.
/** @param {Float64Array} x @param {NonNullable<Apply["pca"]>} pca */
function project(x, { components, directions = "" }) {
  const bytes = Uint8Array.from(atob(directions), (c) => c.charCodeAt(0)), d = new DataView(bytes.buffer), y = new Float64Array(components);
  x.forEach((v, i) => { for (let k = 0; k < components; k++) y[k] += v * d.getFloat32(4 * (i * components + k), true); });
  return y;
}

/** @typedef {{ height: number, width: number, channels: number, v: Float64Array }} Picture of one position after the other; a height of 0: no picture */

// chain takes x through the layers.
/** @param {Apply} apply @param {Float32Array} parameters @param {Float64Array} v */
function chain(apply, parameters, v) {
  const s = apply.shape ?? [];
  /** @type {Picture} */
  let x = s.length === 3 ? { height: s[1], width: s[2], channels: s[0], v } : s.length === 2 ? { height: s[0], width: s[1], channels: 1, v } : { height: 0, width: 0, channels: v.length, v };
  if (apply.pca) x = { height: 0, width: 0, channels: v.length, v };
  /** @type {Picture[]} */
  const around = []; // what goes around the blocks that x is in
  let at = 0, there = [true]; // the places of a row that have a token
  for (const l of apply.layers) {
    const p = parameters.subarray(at, at += l.parameters), [name, ...words] = l.layer.trim().split(":");
    const size = words.filter((w) => /^\d/.test(w)).map(Number), letter = (/** @type {string} */ c, /** @type {number} */ or) => Number(words.find((w) => w[0] === c)?.slice(1) ?? or);
    switch (name) {
      case "relu": x = { ...x, v: x.v.map((u) => Math.max(0, u)) }; break;
      case "tanh": x = { ...x, v: x.v.map(Math.tanh) }; break;
      case "gelu": x = { ...x, v: x.v.map((u) => u * normal(u)) }; break;
      case "flatten": x = { height: 0, width: 0, channels: x.v.length, v: x.v }; break;
      case "bias": case "position": x = { ...x, v: x.v.map((u, i) => u + p[i]) }; break;
      case "embedding":
        there = Array.from(x.v, (u) => Number.isInteger(u) && u >= 0 && u < size[0] * letter("t", 1));
        x = embed(x.v, p, there, size[0], size[1]);
        break;
      case "attention": x = attend(x, p, there, size[0]); break;
      case "lstm": x = passed(x, p, there, size[0]); break;
      case "mean": case "first": case "last": x = meanOf(x, there, name); break;
      case "conv1d": x = convolve(x, p, size[0], size[1], 1, 1, 0); break;
      case "dense": x = dense(x.v, p, l.shape[0]); break;
      case "conv": x = convolve(x, p, size[0], size[1], size[1], letter("s", 1), letter("p", 0)); break;
      case "wsconv": x = convolve(x, standardised(p, size[0]), size[0], size[1], size[1], letter("s", 1), letter("p", 0)); break;
      case "maxpool": case "avgpool": x = pool(x, name === "maxpool", size[0], size[0], letter("s", size[0])); break;
      case "globalpool": x = pool(x, false, x.height, x.width, 1); break;
      case "groupnorm": x = groupNorm(x, p, size[0]); break;
      case "layernorm": x = layerNorm(x, p, 10 ** -letter("e", 5)); break;
      case "skip": around.push(size.length ? convolve(x, p, size[0], 1, 1, letter("s", 1), 0) : x); break;
      case "add": {
        const other = /** @type {Picture} */ (around.pop());
        x = { ...x, v: x.v.map((u, i) => u + other.v[i]) };
        break;
      }
      default: throw new Error(`There is no layer "${name}" here: this file is older than the model.`);
    }
  }
  return x.v;
}

// embed gives each token its row of a table, with that of its type, where tokens have types, and 0 what is none.
/** @param {Float64Array} x @param {Float32Array} p @param {boolean[]} there @param {number} tokens @param {number} channels @returns {Picture} */
function embed(x, p, there, tokens, channels) {
  const v = new Float64Array(x.length * channels), types = p.subarray(tokens * channels);
  x.forEach((u, i) => {
    if (!there[i]) return;
    const token = u % tokens * channels, type = Math.floor(u / tokens) * channels;
    for (let c = 0; c < channels; c++) v[i * channels + c] = p[token + c] + (types[type + c] ?? 0);
  });
  return { height: x.length, width: 1, channels, v };
}

// normal is the normal distribution: a series near 0, and a continued fraction beyond.
/** @param {number} x */
function normal(x) {
  const density = Math.exp(-x * x / 2) / Math.sqrt(2 * Math.PI);
  if (Math.abs(x) < 3) {
    let term = x, sum = x;
    for (let k = 3; k < 99; k += 2) sum += term *= x * x / k;
    return 0.5 + sum * density;
  }
  let f = 0;
  for (let k = 60; k > 0; k--) f = k / (Math.abs(x) + f);
  const tail = density / (Math.abs(x) + f);
  return x > 0 ? 1 - tail : tail;
}

// attend has each place look at those that have a token, with some heads.
/** @param {Picture} x @param {Float32Array} p @param {boolean[]} there @param {number} heads @returns {Picture} */
function attend(x, p, there, heads) {
  const d = x.channels, width = d / heads, first = 3 * d * (d + 1), a = convolve(x, p.subarray(0, first), 3 * d, 1, 1, 1, 0).v;
  const seen = { ...x, v: new Float64Array(x.v.length) }, tokens = [...there.keys()].filter((k) => there[k]);
  for (let h = 0; h < d; h += width) {
    for (let j = 0; j < x.height; j++) {
      const of = (/** @type {number} */ k) => { let s = 0; for (let c = h; c < h + width; c++) s += a[3 * j * d + c] * a[(3 * k + 1) * d + c]; return s / Math.sqrt(width); };
      const products = tokens.map(of), most = Math.max(...products), shares = products.map((s) => Math.exp(s - most)), sum = shares.reduce((s, e) => s + e, 0);
      tokens.forEach((k, i) => { for (let c = h; c < h + width; c++) seen.v[j * d + c] += shares[i] / sum * a[(3 * k + 2) * d + c]; });
    }
  }
  return convolve(seen, p.subarray(first), d, 1, 1, 1, 0);
}

// passed is what cells show at each place. A place without a token leaves them as they were.
/** @param {Picture} x @param {Float32Array} p @param {boolean[]} there @param {number} h @returns {Picture} */
function passed(x, p, there, h) {
  const first = (x.channels + 1) * 4 * h, a = convolve(x, p.subarray(0, first), 4 * h, 1, 1, 1, 0).v, y = new Float64Array(x.height * h);
  const sigmoid = (/** @type {number} */ u) => 1 / (1 + Math.exp(-u)), held = new Float64Array(h);
  let seen = new Float64Array(h);
  for (let j = 0; j < x.height; j++) {
    if (there[j]) {
      const { v: z } = dense(seen, p.subarray(first), 4 * h), gate = (/** @type {number} */ i) => z[i] + a[4 * j * h + i];
      seen = seen.map((_, k) => {
        held[k] = sigmoid(gate(h + k)) * held[k] + sigmoid(gate(k)) * Math.tanh(gate(2 * h + k));
        return sigmoid(gate(3 * h + k)) * Math.tanh(held[k]);
      });
    }
    y.set(seen, j * h);
  }
  return { ...x, channels: h, v: y };
}

// meanOf is the mean over the places that have a token, or what is at the first or last of these.
/** @param {Picture} x @param {boolean[]} there @param {string} which @returns {Picture} */
function meanOf({ height, channels, v }, there, which) {
  const all = [...there.keys()].filter((j) => there[j] && j < height), y = new Float64Array(channels);
  const places = which === "first" ? all.slice(0, 1) : which === "last" ? all.slice(-1) : all;
  for (const j of places) for (let c = 0; c < channels; c++) y[c] += v[j * channels + c] / places.length;
  return { height: 0, width: 0, channels, v: y };
}

/** @param {Float64Array} x @param {Float32Array} p weights and then biases @param {number} outputs @returns {Picture} */
function dense(x, p, outputs) {
  const y = Float64Array.from(p.subarray(x.length * outputs));
  x.forEach((v, i) => { if (v !== 0) for (let k = 0; k < outputs; k++) y[k] += v * p[i * outputs + k]; });
  return { height: 0, width: 0, channels: outputs, v: y };
}

// windows calls f with each place of a window and with what it sees there: where in the
// picture its values begin, and where in the window.
/** @param {Picture} x @param {number} high @param {number} wide @param {number} stride @param {number} pad @param {(place: number, from: number, at: number) => void} f */
function windows(x, high, wide, stride, pad, f) {
  const down = Math.floor((x.height + 2 * pad - high) / stride) + 1, across = Math.floor((x.width + 2 * pad - wide) / stride) + 1;
  for (let i = 0; i < down * across; i++) {
    const top = Math.floor(i / across) * stride - pad, left = i % across * stride - pad;
    for (let a = Math.max(0, -top); a < Math.min(high, x.height - top); a++) {
      for (let b = Math.max(0, -left); b < Math.min(wide, x.width - left); b++) f(i, ((top + a) * x.width + left + b) * x.channels, (a * wide + b) * x.channels);
    }
  }
  return { height: down, width: across };
}

/** @param {Picture} x @param {Float32Array} p @param {number} channels @param {number} high @param {number} wide @param {number} stride @param {number} pad @returns {Picture} */
function convolve(x, p, channels, high, wide, stride, pad) {
  const down = Math.floor((x.height + 2 * pad - high) / stride) + 1, across = Math.floor((x.width + 2 * pad - wide) / stride) + 1;
  const v = new Float64Array(down * across * channels), bias = p.subarray(p.length - channels);
  for (let i = 0; i < v.length; i++) v[i] = bias[i % channels];
  windows(x, high, wide, stride, pad, (place, from, at) => {
    for (let c = 0; c < x.channels; c++) {
      const u = x.v[from + c], w = (at + c) * channels;
      if (u !== 0) for (let k = 0; k < channels; k++) v[place * channels + k] += u * p[w + k];
    }
  });
  return { height: down, width: across, channels, v };
}

// standardised are weights of mean 0 and length 1 for each channel, and the biases.
/** @param {Float32Array} p @param {number} channels */
function standardised(p, channels) {
  const patch = p.length / channels - 1, w = p.slice();
  for (let k = 0; k < channels; k++) {
    let mean = 0, square = 0;
    for (let i = 0; i < patch; i++) mean += p[i * channels + k] / patch;
    for (let i = 0; i < patch; i++) square += (p[i * channels + k] - mean) ** 2 / patch;
    for (let i = 0; i < patch; i++) w[i * channels + k] = (p[i * channels + k] - mean) / Math.sqrt((square + 1e-5) * patch);
  }
  return w;
}

/** @param {Picture} x @param {boolean} greatest @param {number} high @param {number} wide @param {number} stride @returns {Picture} */
function pool(x, greatest, high, wide, stride) {
  const down = Math.floor((x.height - high) / stride) + 1, across = Math.floor((x.width - wide) / stride) + 1;
  const v = new Float64Array(down * across * x.channels).fill(greatest ? -Infinity : 0);
  windows(x, high, wide, stride, 0, (place, from) => {
    for (let c = 0; c < x.channels; c++) {
      const to = place * x.channels + c, u = x.v[from + c];
      v[to] = greatest ? Math.max(v[to], u) : v[to] + u / (high * wide);
    }
  });
  return { height: down, width: across, channels: x.channels, v };
}

/** @param {Picture} x @param {Float32Array} p a factor and then a summand for each channel @param {number} groups @returns {Picture} */
function groupNorm(x, p, groups, epsilon = 1e-5) {
  const mean = new Float64Array(groups), square = new Float64Array(groups), count = x.v.length / groups;
  const channel = (/** @type {number} */ i) => i % x.channels, group = (/** @type {number} */ i) => Math.floor(channel(i) / (x.channels / groups));
  x.v.forEach((u, i) => { mean[group(i)] += u / count; });
  x.v.forEach((u, i) => { square[group(i)] += (u - mean[group(i)]) ** 2 / count; });
  return { ...x, v: x.v.map((u, i) => p[channel(i)] * (u - mean[group(i)]) / Math.sqrt(square[group(i)] + epsilon) + p[x.channels + channel(i)]) };
}

// layerNorm is of the channels of each place.
/** @param {Picture} x @param {Float32Array} p @param {number} epsilon @returns {Picture} */
function layerNorm(x, p, epsilon) {
  const v = new Float64Array(x.v.length), d = x.channels;
  for (let i = 0; i < v.length; i += d) v.set(groupNorm({ height: 1, width: 1, channels: d, v: x.v.subarray(i, i + d) }, p, 1, epsilon).v, i);
  return { ...x, v };
}

// --- cells ---

const ABSENT = new Set(["", "?", "na", "nan", "-nan", "n/a", "<na>", "null", "n.a.", "k.a.", "k. a.", "k.\u00a0a.", "k.\u202fa.", "n/d"]);
const EXACTLY = new Set(["\\N", "NaT", "#N/A", "#NV", "#REF!", "#NUM!", "#DIV/0!", "#NAME?", "#VALUE!", "#NULL!"]);
const missing = (/** @type {string} */ cell) => ABSENT.has(cell.toLowerCase()) || EXACTLY.has(cell);

// NO_NUMBER are missing in a column of numbers alone.
const NO_NUMBER = new Set(["none", "missing", "unknown", "not available", "unbekannt", "fehlt", "n.b.", "n. b.", "n.v.", "n. v.", "-", "--", ".", "..", "…", "–", "—"]);

const SPACE = "[\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+", ENDS = new RegExp(`^${SPACE}|${SPACE}$`, "g");

// trim takes from both ends what Unicode calls space.
const trim = (/** @type {string} */ cell) => cell.replaceAll(ENDS, "");

// written matches numbers with these marks before the decimals and between thousands. It
// is made once for each pair, as a table has many cells.
/** @param {string} decimal @param {string} thousands */
function written(decimal, thousands) {
  const key = decimal + thousands, known = patterns.get(key);
  if (known) return known;
  const escaped = (/** @type {string} */ mark) => mark.replace(".", "\\."), point = escaped(decimal);
  const lakhs = thousands === "," ? "|[1-9][0-9]?(?:,[0-9]{2})*,[0-9]{3}" : ""; // as in India
  const whole = thousands ? `(?:[0-9]+|[1-9][0-9]{0,2}(?:${escaped(thousands)}[0-9]{3})+${lakhs})` : "[0-9]+";
  const made = new RegExp(`^[+-]?(?:${whole}(?:${point}[0-9]*)?|${point}[0-9]+)(?:[eE][+-]?[0-9]+)?$`);
  patterns.set(key, made);
  return made;
}

/** @type {Map<string, RegExp>} */
const patterns = new Map();

const CURRENCY = "[$€£¥₹]|CHF|EUR|USD|GBP|kr\\.|kr|Kr|Fr\\.", BEFORE = new RegExp(`^(?:${CURRENCY})`), BEHIND = new RegExp(`(?:${CURRENCY})$`);

// SIGNS are other names of a unit.
const SIGNS = new Map([["EUR", "€"], ["GBP", "£"], ["Fr.", "CHF"], ["kr.", "kr"], ["Kr", "kr"]]);

// PER_DAY counts the times of a kind in a day; yyyymmdd is none of them.
const PER_DAY = new Map([["s", 86_400], ["ms", 86_400e3], ["us", 86_400e6], ["ns", 86_400e9]]);

// value is the number that a cell says, of per cent a hundredth, of a date or a time the days since 1970
// began; NaN where it says none. A unit that no training cell had is an error.
/** @param {string} cell @param {Column} c */
function value(cell, c) {
  if (c.date) return days(cell, c.date);
  let { v, sign, perCent } = number(cell, c);
  if (!Number.isFinite(Math.fround(v))) return v;
  if (c.time) v = instant(v, c.time);
  else if (c.units && perCent) v /= 100;
  const unit = sign || (perCent ? "%" : "");
  if (Number.isNaN(v) || !c.units || c.units.includes(unit) || unit === "%" && c.units.includes("")) return v;
  throw new Error(`Column "${c.name}" has "${cell}"${unit ? "" : ", without a unit"}: its training cells had ${c.units.map((u) => u ? `"${u}"` : "no unit").join(" or ")}. Write it so.`);
}

// instant is an integer of a kind of times in days since 1970 began.
/** @param {number} v @param {string} kind */
function instant(v, kind) {
  const n = PER_DAY.get(kind);
  if (n) return v / n;
  if (!Number.isInteger(v) || v < 0 || v >= 1e8) return NaN;
  const text = String(v).padStart(8, "0");
  return days(`${text.slice(0, 4)}-${text.slice(4, 6)}-${text.slice(6)}`, "ymd");
}

// number is what a cell says, without the sign of a currency or of per cent, or NaN, and these signs. One in
// parentheses, or with decimals and a minus behind, is negative.
/** @param {string} cell @param {{ decimal?: string, thousands?: string }} column */
function number(cell, { decimal = ".", thousands = "" }) {
  let s = cell, currency = "", perCent = false;
  if (/[^\0-\x7f]|[$%(]|[a-df-z]|-$/i.test(s)) {
    s = s.replaceAll(/[\xa0\u2007\u2009\u202f]/g, " ").replaceAll("−", "-").replaceAll("’", "'");
    const inner = trim((s.match(/^\((.*)\)$/s) ?? s.match(/^(.*[.,].*[0-9])-$/s))?.[1] ?? "");
    if (inner && !/^[+-]|[+-]$/.test(inner)) s = "-" + inner;
    const [sign] = /** @type {RegExpMatchArray} */ (s.match(/^[+-]*/)), rest = s.slice(sign.length);
    currency = (rest.match(BEFORE) ?? rest.match(BEHIND) ?? [""])[0];
    const bare = BEFORE.test(rest) ? rest.replace(BEFORE, "") : rest.replace(BEHIND, "");
    perCent = bare.endsWith("%");
    s = sign + trim(bare.replace(/%$/, ""));
  }
  const v = written(decimal, thousands).test(s) ? Number((thousands ? s.replaceAll(thousands, "") : s).replace(decimal, ".")) : NaN;
  return { v, sign: SIGNS.get(currency) ?? currency, perCent };
}

const DATE = /^(\d{1,4})([-/.])(\d{1,2})\2(\d{1,4})(?:[T ](\d{1,2}):(\d\d)(?::(\d\d(?:[.,]\d+)?)(?: ?(Z|[+-]\d\d(?::?\d\d)?))?)?(?: ?([AaPp])[Mm])?)?$/;

// days are those since 1970 began, or NaN.
/** @param {string} cell @param {string} order */
function days(cell, order) {
  const m = cell.match(DATE);
  if (!m || m[2] === "." && order === "mdy") return NaN;
  const parts = [m[1], m[3], m[4]], [y, month, day] = [..."ymd"].map((letter) => parts[order.indexOf(letter)]);
  const date = new Date(0), [clock, minutes, seconds] = [m[5], m[6], m[7]].map((s) => Number((s ?? "0").replace(",", ".")));
  const half = m[9]?.toLowerCase(), hours = half ? clock % 12 + (half === "p" ? 12 : 0) : clock;
  // A year of two digits, at the end, is one of 1969 to 2068.
  const short = y.length === 2 && order !== "ymd" && (m[2] === "/" || month.length + day.length === 4), year = Number(y) + (short ? Number(y) >= 69 ? 1900 : 2000 : 0);
  if (half && (m[8] || clock < 1 || clock > 12)) return NaN;
  date.setUTCFullYear(year, Number(month) - 1, Number(day));
  const [zoneHours, zoneMinutes] = m[8] && m[8] !== "Z" ? [m[8].slice(1, 3), m[8].slice(3).replace(":", "")].map(Number) : [0, 0];
  if (y.length !== 4 && !short || month.length > 2 || day.length > 2 || year === 0 || date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day)) return NaN;
  if (hours > 23 || minutes > 59 || seconds >= 60 || zoneHours > 24 || zoneMinutes > 60) return NaN;
  const zone = (m[8]?.[0] === "-" ? -60 : 60) * (60 * zoneHours + zoneMinutes);
  return (date.getTime() / 1000 + (60 * hours + minutes) * 60 + seconds - zone) / 86_400;
}

// hash is FNV-1a of 32 bits.
/** @param {string} cell */
const hash = (cell) => hashed(2166136261, utf8Of.encode(cell));

const utf8Of = new TextEncoder();

// hashed goes on with a hash.
/** @param {number} h @param {Uint8Array} bytes */
function hashed(h, bytes) {
  for (const b of bytes) h = Math.imul(h ^ b, 16777619) >>> 0;
  return h;
}

// --- texts ---

// hashedWords are the features of a text that are not 0, by bucket. Its parts are in three groups: its words, pairs of
// neighbours, and characters 3 to 5 within a word between marks. A part that comes n times adds ±(1 + ⌊log₂ n⌋) to the
// bucket that its hash names, with the sign of the topmost bit. Each group is divided by its length, and so is their sum.
/** @param {string} text @param {number} buckets */
function hashedWords(text, buckets) {
  /** @type {[Map<number, number>, Map<number, number>, Map<number, number>]} */
  const groups = [new Map(), new Map(), new Map()], [words, pairs, grams] = groups, begun = hash("c");
  const add = (/** @type {Map<number, number>} */ times, /** @type {number} */ h) => {
    h = mixed(h);
    times.set(h, (times.get(h) ?? 0) + 1);
  };
  let before = "";
  for (const word of wordsOf(text)) {
    add(words, hash("w" + word));
    if (before) add(pairs, hash("p" + before + " " + word));
    before = word;
    const marked = Array.from("<" + word + ">", (c) => utf8Of.encode(c));
    for (let from = 0; from < marked.length; from++) {
      let h = begun;
      for (let n = 1; n <= 5 && from + n <= marked.length; n++) {
        h = hashed(h, marked[from + n - 1]);
        if (n >= 3) add(grams, h);
      }
    }
  }
  /** @type {Map<number, number>} */
  const all = new Map();
  for (const times of groups) {
    /** @type {Map<number, number>} */
    const sums = new Map();
    for (const [h, n] of times) sums.set(h % buckets, (sums.get(h % buckets) ?? 0) + (h >>> 31 ? -1 : 1) * (32 - Math.clz32(n)));
    const length = Math.sqrt([...sums.values()].reduce((sum, v) => sum + v * v, 0));
    for (const [bucket, v] of sums) if (v !== 0) all.set(bucket, (all.get(bucket) ?? 0) + v / length);
  }
  const sorted = [...all].filter(([, v]) => v !== 0).sort(([a], [b]) => a - b), length = Math.sqrt(sorted.reduce((sum, [, v]) => sum + v * v, 0)); // in order, as rounding has one
  return sorted.map(([bucket, v]) => [bucket, Math.fround(v / length)]);
}

// mixed spreads a hash over all of its bits.
/** @param {number} h */
function mixed(h) {
  h = Math.imul(h ^ h >>> 16, 0x85ebca6b);
  h = Math.imul(h ^ h >>> 13, 0xc2b2ae35);
  return (h ^ h >>> 16) >>> 0;
}

/** @param {string} text @param {number} tokens */
const wordTokens = (text, tokens) => wordsOf(text).map((word) => mixed(hash("w" + word)) % tokens);

// letterTokens are the characters of a text in lower case: those below 128 themselves, others hashed to 128 more.
/** @param {string} text */
const letterTokens = (text) => Array.from(text, (c) => {
  const r = lower(/** @type {number} */ (c.codePointAt(0)));
  return r < 128 ? r : 128 + mixed(hash("l" + String.fromCodePoint(r))) % 128;
});

// wordsOf cuts a text into words in lower case: runs of letters and digits, and ideographs and kana one by one.
/** @param {string} text */
function wordsOf(text) {
  const words = [];
  let word = "";
  const end = () => {
    if (word) words.push(word);
    word = "";
  };
  for (const c of text) {
    const r = lower(/** @type {number} */ (c.codePointAt(0))), inWord = r >= 0x61 && r <= 0x7a || r >= 0x30 && r <= 0x39 || r >= 0xaa && !within(r, NO_WORD), alone = within(r, ALONE);
    if (!inWord || alone) end();
    if (inWord) word += String.fromCodePoint(r);
    if (alone) end();
  }
  end();
  return words;
}

// lower is the small letter of a capital of Latin, Greek or Cyrillic.
/** @param {number} r */
function lower(r) {
  if (r >= 0x41 && r <= 0x5a || r >= 0xc0 && r <= 0xde && r !== 0xd7 || r >= 0x391 && r <= 0x3a9 || r >= 0x410 && r <= 0x42f) return r + 32;
  if (r >= 0x400 && r <= 0x40f) return r + 80;
  if (r >= 0x100 && r <= 0x137 || r >= 0x14a && r <= 0x177) return r | 1;
  return r >= 0x139 && r <= 0x148 || r >= 0x179 && r <= 0x17e ? r + (r & 1) : r;
}

/** @param {number} r @param {number[][]} ranges */
const within = (r, ranges) => ranges.some(([from, to]) => r >= from && r <= to);

// NO_WORD are the ranges above U+00AA that no word has: punctuation, spaces, halves of pairs. ALONE are ideographs and kana.
const NO_WORD = [
  [0xab, 0xb4], [0xb6, 0xb9], [0xbb, 0xbf], [0xd7, 0xd7], [0xf7, 0xf7], [0x37e, 0x37e], [0x387, 0x387], [0x55a, 0x55f], [0x589, 0x58a], [0x5be, 0x5be],
  [0x60c, 0x60d], [0x61b, 0x61f], [0x66a, 0x66d], [0x6d4, 0x6d4], [0x964, 0x965], [0x1680, 0x1680], [0x2000, 0x206f],
  [0x2e00, 0x2e7f], [0x3000, 0x3004], [0x3008, 0x3020], [0x3030, 0x3030], [0x30fb, 0x30fb], [0xd800, 0xdfff], [0xfe00, 0xfe6f], [0xfeff, 0xff0f],
  [0xff1a, 0xff20], [0xff3b, 0xff40], [0xff5b, 0xff65], [0xffe0, 0xffff],
], ALONE = [[0x3040, 0x30ff], [0x3400, 0x4dbf], [0x4e00, 0x9fff], [0xf900, 0xfaff], [0x20000, 0x3ffff]];

// --- from a command line ---

// table cuts a text into rows of cells: RFC 4180, with a comma, a semicolon or a tab, the
// one that the first line has most of.
/** @param {string} text */
export function table(text) {
  text = text.replaceAll("\r\n", "\n"); // within quotes, too
  const QUOTED = '"(?:[^"]|"")*"', head = text.slice(0, 1 << 16).match(`^(?:${QUOTED}|[^\n])*`)?.[0].replaceAll(new RegExp(QUOTED, "g"), "") ?? "";
  const mark = [",", ";", "\t"].reduce((a, b) => head.split(b).length > head.split(a).length ? b : a);
  /** @type {string[][]} */
  const rows = [];
  let row = [""], quoted = false, began = 0; // where the row did: an empty line is none, and "" is
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (quoted && c === '"' && text[i + 1] === '"') row[row.length - 1] += text[++i];
    else if (c === '"' && quoted) quoted = false;
    else if (c === '"' && !/[^ ]/.test(row[row.length - 1])) [quoted, row[row.length - 1]] = [true, ""];
    else if (!quoted && c === mark) row.push("");
    else if (!quoted && (c === "\n" || c === "\r")) {
      if (i > began) rows.push(row);
      [row, began] = [[""], i + 1];
    } else row[row.length - 1] += c;
  }
  if (quoted) throw new Error(`Row ${rows.length + 1}: a quote is still open at the end of the table.`);
  if (text.length > began) rows.push(row);
  return rows;
}

// answers is a table with an answer for each row of another, whose first row has the
// names of its columns: they are found by name, wherever they stand.
/** @param {Model} model @param {string} text */
export function answers(model, text) {
  const [names = [], ...rows] = table(text.replace(/^\ufeff/, "")), { columns = [], classes } = model.apply;
  const own = names.map(trim), twice = own.find((name, i) => own.indexOf(name) < i);
  if (twice !== undefined) throw new Error(`The table has two columns "${twice}".`);
  const at = columns.map((c) => {
    const i = own.indexOf(c.name);
    if (i < 0 && ["numeric", "categorical", "text", "letters", "words"].includes(c.kind)) throw new Error(`There is no column "${c.name}" in the table: it has ${names.join(", ")}.`);
    return i;
  });
  const quote = (/** @type {string} */ s) => /[",\r\n]/.test(s) ? `"${s.replaceAll('"', '""')}"` : s;
  const head = ["answer", ...(classes ?? []).map((c) => `p(${c})`)].map(quote).join(",");
  return [head, ...rows.map((cells, i) => {
    try {
      if (cells.length !== names.length) throw new Error(`It has ${cells.length} cells, and the first row has ${names.length}.`);
      const { answer, outputs } = model.predict(at.map((k) => k < 0 ? "" : cells[k]));
      return [quote(Array.isArray(answer) ? answer.join(" ") : String(answer)), ...(classes ? outputs.map((p) => p.toPrecision(6)) : [])].join(",");
    } catch (e) {
      throw new Error(`Row ${i + 2}: ${/** @type {Error} */ (e).message}`, { cause: e });
    }
  })].join("\n") + "\n";
}

// main is what is done where this file is the program.
/** @param {string[]} args */
async function main([model, rows]) {
  if (!model || !rows) throw new Error("Give a model and a table: node predict.mjs model.json rows.csv > answers.csv");
  const fs = await import("node:fs"), bytes = fs.readFileSync(model);
  process.stdout.write(answers(load(model.endsWith(".safetensors") ? new Uint8Array(bytes) : bytes.toString()), utf8(fs.readFileSync(rows))));
}

// utf8 is a table's text. What is none has characters that no category would be found by.
/** @param {Uint8Array} bytes */
function utf8(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (e) {
    throw new Error("The table is not in UTF-8: save it as CSV in UTF-8, or give it to the page, which reads others.", { cause: e });
  }
}

if (globalThis.process?.argv?.[1] && import.meta.url.endsWith(encodeURI(globalThis.process.argv[1].replaceAll("\\", "/")))) {
  main(globalThis.process.argv.slice(2)).catch((e) => {
    console.error(e.message);
    globalThis.process.exitCode = 1;
  });
}
