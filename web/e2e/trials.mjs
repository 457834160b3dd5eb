// What hostile.test.mjs puts to the page: files, configurations, questions and
// links as somebody who means harm, or a damaged disk, would make them. All is drawn
// from a seed, so a trial that fails can be repeated.
import { gzipSync } from "node:zlib";

/** @typedef {() => number} Random from 0 to 1, 1 excluded */

// random is mulberry32.
/** @param {number} seed @returns {Random} */
export function random(seed) {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** @template T @param {Random} r @param {readonly T[]} list @returns {T} */
const pick = (r, list) => list[Math.floor(r() * list.length)];
/** @param {Random} r @param {number} n */
const below = (r, n) => Math.floor(r() * n);
/** @param {Random} r @param {number} n */
const noise = (r, n) => Buffer.from(Array.from({ length: n }, () => below(r, 256)));
/** @template T @param {number} n @param {(i: number) => T} f */
const times = (n, f) => Array.from({ length: n }, (_, i) => f(i));

// --- files ---

/** @param {number[]} dims @param {Uint8Array} values */
function idx(dims, values, type = 8) {
  const head = Buffer.alloc(4 + 4 * dims.length);
  head.writeUInt8(type, 2);
  head.writeUInt8(dims.length, 3);
  dims.forEach((d, i) => head.writeUInt32BE(d, 4 + 4 * i));
  return Buffer.concat([head, values]);
}

// zeros is gzip of size MB of a repeated text, in members of 16 MB: made in no time,
// however long it is.
/** @param {number} size @param {string} [text] */
export function zeros(size, text = "\0") {
  const member = gzipSync(Buffer.alloc(16 << 20, text));
  return Buffer.concat(times(size >> 4, () => member));
}

const long = "é".repeat(50_000);
const cells = ["1", "-0", "1e400", "1e-400", "NaN", "inf", "", " ", "?", "NA", "null", "1,5", "1.234,5", "$1,234.50", "12.01.2021", "2021-13-45", "0x1f",
  "=1+1", "<img src=x onerror=alert(1)>", "é", "\u202e\u0000x", "\"", "\"\"\"", "a\"b", "'", "💣", "9".repeat(400), "x".repeat(3000), "-", "1_000", "true", "0000012"];
const texts = [...cells, "%!d(string=x)", "__proto__", "constructor", long, "../../etc/passwd", "\r\n\r\n"];

/** @param {Random} r */
function table(r) {
  const width = pick(r, [1, 2, 3, 5, 40]), rows = pick(r, [0, 1, 2, 3, 30, 300]), comma = pick(r, [",", ";", "\t", "|", " "]), end = pick(r, ["\n", "\r\n", "\r", "\n\n"]);
  const plain = r() < 0.5; // but for a few cells
  const lines = times(rows, (i) => times(r() < 0.995 ? width : below(r, 60), (j) => r() < (plain ? 0.995 : 0.4) ? String(j === width - 1 ? i % 3 : below(r, 1000) / 8) : pick(r, cells)).join(comma));
  if (r() < 0.6) lines.unshift(times(width, (j) => r() < 0.9 ? `c${j}` : pick(r, texts)).join(comma));
  return lines.join(end);
}

/** @param {Random} r */
function encoded(r) {
  const text = table(r), bytes = Buffer.from(text);
  switch (below(r, 5)) {
    case 0: return Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, "utf16le")]);
    case 1: return Buffer.from(text, "latin1");
    case 2: return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]);
    default: return bytes;
  }
}

// broken is b with some of it missing, changed or added.
/** @param {Random} r @param {Buffer} b */
function broken(r, b) {
  const c = Buffer.from(b);
  switch (below(r, 4)) {
    case 0: return c.subarray(0, below(r, c.length + 1));
    case 1: return Buffer.concat([c, noise(r, 1 + below(r, 50))]);
    case 2: for (let i = 0; i < 1 + c.length / 100; i++) if (c.length) c[below(r, c.length)] = below(r, 256);
  }
  return c;
}

const images = idx([40, 4, 4], Buffer.alloc(640, 7)), labels = idx([40], Buffer.from(times(40, (i) => i % 3)));
const record = (label) => Buffer.concat([Buffer.from([label]), Buffer.alloc(3072, 3 * label)]);

/** @type {((r: Random) => Buffer[])[]} */
const kinds = [
  (r) => [noise(r, below(r, 5000))],
  (r) => [encoded(r)],
  (r) => [encoded(r), encoded(r)],
  (r) => [broken(r, encoded(r))],
  (r) => [gzipSync(encoded(r))],
  (r) => [broken(r, gzipSync(encoded(r)))],
  (r) => [gzipSync(gzipSync(encoded(r)))],
  (r) => [broken(r, images), labels],
  (r) => [images, broken(r, labels)],
  () => [images, images],
  (r) => [idx(times(1 + below(r, 5), () => pick(r, [0, 1, 28, 65536, 2 ** 31, 2 ** 32 - 1])), noise(r, below(r, 999)), pick(r, [8, 8, 8, 9, 13, 14])), labels],
  () => [gzipSync(idx([2 ** 29], Buffer.alloc(1 << 20))), gzipSync(idx([2 ** 29, 1], Buffer.alloc(1 << 20)))],
  (r) => [Buffer.concat(times(12, (i) => record(i % 10))), broken(r, record(3))],
  (r) => [Buffer.concat(times(12, () => record(pick(r, [1, 2, 10, 255]))))],
  () => [zeros(16)],
  () => [zeros(16, "1,0\n")],
  () => [zeros(16, "\"")],
  () => [zeros(16, "1,")],
  (r) => [Buffer.from(`a,b,label\n${times(200, (i) => `${i / 7},${pick(r, [1, 2, 5])},${i % 3}`).join("\n")}\n`)],
  (r) => r() < 0.5 ? [labels, images] : [gzipSync(images), labels],
  () => times(2, () => Buffer.concat(times(12, (i) => record(i % 10)))),
  (r) => [Buffer.from(`${times(pick(r, [3000, 25_000]), (i) => r() < 0.3 ? "" : `c${i}`).join(",")}\n${"1,".repeat(2999)}1\n`)],
  (r) => [Buffer.from("a,b,label\n" + times(400, (i) => `${i}${"x".repeat(pick(r, [1, 900, 5000]))},${i},${i % 2}`).join("\n"))],
  (r) => [Buffer.from("%PDF-1.7"), Buffer.from("PK\x03\x04"), Buffer.from("\x89PNG"), Buffer.from("<html>")].slice(below(r, 3)),
  () => [Buffer.alloc(0)],
];
const names = ["t.csv", "cifar.bin", "a-idx3-ubyte", "test.csv", `${long}.csv`, "<b>.csv", "", "\u202etxt.exe", "CON", "a/b/../c", "t.csv.gz", "%s%n", "data_batch_1.bin", "__proto__"];

// filesOf is the i-th of the hostile choices of files, with how they are to be read.
/** @param {Random} r @param {number} i @returns {{ files: { name: string, mimeType: string, buffer: Buffer }[], csv: object }} */
export function filesOf(r, i) {
  const files = kinds[i % kinds.length](r).map((buffer) => ({ name: pick(r, names), mimeType: "", buffer }));
  const csv = r() < 0.6 ? {} : drawn(r, csvFields);
  return { files, csv };
}

// --- configurations ---

const numbers = [0, -0, -1, 1, 2, 0.5, 1e-3, 0.02, 1e-5, 1e-9, 1e-12, 1e-300, 5e-324, 100, 1e6, 1e8, 1e9, 2 ** 31, 2 ** 53, 1e15, 1e300, Number.MAX_VALUE, NaN, Infinity, -Infinity];
const junk = [...numbers, ...texts, "1", null, true, false, [], {}, [1], ["x"], [[[]]], { a: { b: {} } }, { $numberDouble: "NaN" }, { $numberDouble: "x" }, { lo: 1, hi: -1 }];

/** @typedef {Record<string, readonly any[]>} Fields what is plausible for each */
/** @type {Fields} */
const csvFields = {
  encoding: ["utf-8", "utf-16", "windows-1252"], delimiter: [",", ";", "tab", ""], header: ["yes", "no"], decimal: [".", ","], thousands: [".", ",", "none", " "], date: ["ymd", "dmy", "mdy"],
  label: ["1", "c0", "label", "-1", "99999999999999999999"], task: ["classification", "regression"], missing: ["drop", "zero", "indicator", "error"], bad_rows: ["skip", "error"],
  columns: [{ c0: "numeric" }, { c0: "bucketed" }, { "column 1": "ignored" }], buckets: [0, 1, 32, 1e6, -1], bounds: [{ c0: { lo: 0, hi: 1 } }, { c0: { lo: 1, hi: 0 } }], fill: [{ c0: 1e300 }],
  roles: [{ "t.csv": "test" }, { "t.csv": "train" }], test_share: [0, 0.5, -1, 0.9, 2],
};
/** @type {Fields} */
const fields = {
  data: ["moons", "moons", "blobs", "spirals", "digits", "regression-vc", "files"], csv: [{}], scaling: [{ kind: "row" }, { kind: "declared", lo: -1, hi: 1 }, { kind: "private", share: 0.5 }, { kind: "measured" }, { kind: "private", share: 1e-300 }, { kind: "row", target: "private" }, { target: "declared" }],
  pca: [{ components: 1 }, { components: 2, share: 0.9 }, { components: 1e9 }],
  model: [{ kind: "softmax" }, { kind: "mlp" }, { kind: "mlp", hidden: [8] }, { kind: "mlp", hidden: [65536, 65536] }, { kind: "mlp", hidden: times(70, () => 1) }, { kind: "mlp", hidden: [0] }, { kind: "linear" }],
  method: ["none", "constant", "auto-s", "auto-v", "psac", "smooth", "quantile", "schedule", "dc-p", "dc-e", "slaclip", "adaclip", "value", "value-tight", "coordinate", "per-layer", "norm-bound", "micro-batch"],
  weight: ["constant", "auto-s", "psac", "smooth"], threshold: ["fixed", "schedule", "quantile", "dc-p", "dc-e", "slaclip"], grouping: ["flat", "per-layer"], max_grad_norm: [0.1, 1, 1e6], noise_multiplier: [1e-3, 0.02, 1, 1e6], target_epsilon: [1e-3, 1, 1e6],
  target_delta: [1e-5, 1e-30, 0.5], no_privacy: [true], accountant: ["pld", "rdp"], noise_mode: ["secure", "float"], expected_batch_size: [1, 64, 1e-3], max_physical_batch_size: [1, 64, 65_536], epochs: [1, 1e-3, 100], steps: [1, 1000, 1e8],
  optimizer: ["sgd", "momentum", "adam", "adam-bc"], learning_rate: [0.1, 1e6], momentum: [0.9], beta1: [0.5], eps: [1e-8], iterate: ["last", "random", "ema"], ema_decay: [0, 0.9], diagnostics_every: [1, 7, -1], blind: [true], seed: [1, 2 ** 53],
  backend: ["auto", "purego", "webgpu"], note: ["x", long], gamma: [0.5], r: [0.01], sigma_b: [10], sigma_h: [10],
};
/** @type {Fields} */
const asked = {
  noise_multiplier: [0, 1e-3, 0.02, 1, 1e6], sample_rate: [1e-12, 0.01, 1], steps: [1, 1000, 1e8], target_delta: [1e-5, 1e-30, 0.5], target_epsilon: [1e-3, 1, 1e6], epsilon: [0, 1, 1e6], accountant: ["pld", "rdp"], rows: [1, 2, 1000], runs: [1, 10, 1e6],
  over: ["epsilon", "steps"], to: [1, 1e8], points: [2, 33, 200],
};
const usual = { noise_multiplier: 1, sample_rate: 0.01, steps: 1000, target_delta: 1e-5, target_epsilon: 2, epsilon: 1, rows: 3, runs: 5 };
const questions = ["epsilon", "calibrate", "delta", "report", "curve", "tuning", "group"];

// drawn is an object with some of the fields, most of them plausible, and now and
// then one that nobody knows.
/** @param {Random} r @param {Fields} from @param {number} [share] */
function drawn(r, from, share = 0.12) {
  /** @type {Record<string, any>} */
  const o = {};
  for (const [key, plausible] of Object.entries(from)) {
    if (r() < share) o[key] = pick(r, r() < 0.88 ? plausible : r() < 0.6 ? numbers : junk);
  }
  if (r() < 0.02) o[pick(r, texts)] = pick(r, junk);
  return o;
}

// callOf is a hostile call of the API: its name and arguments. A run is a short one
// of a small model.
/** @param {Random} r @returns {{ call: string, args: any[] }} */
export function callOf(r) {
  const kind = r();
  if (kind < 0.3) return { call: pick(r, questions), args: [{ ...usual, ...drawn(r, asked, 0.3) }] };
  if (kind < 0.35) return { call: pick(r, [...questions, "plan"]), args: [pick(r, junk)] };
  const config = { data: "moons", ...drawn(r, fields) };
  if (kind < 0.45) return { call: "train", args: [{ ...config, data: "moons", model: pick(r, [{ kind: "softmax" }, { kind: "mlp", hidden: [8] }]), epochs: undefined, steps: 2 }] };
  return { call: "plan", args: [config] };
}

// --- links ---

/** @param {Random} r @param {any} v @returns {string} */
const written = (r, v) => r() < 0.8 ? encodeURIComponent(typeof v === "object" ? JSON.stringify(v) : String(v)) : String(v);

// hashOf is a hostile fragment, without the '#'.
/** @param {Random} r @returns {string} */
export function hashOf(r) {
  switch (below(r, 8)) {
    case 0: return times(below(r, 40), () => pick(r, ["%", "%2", "%zz", "=", "&", "a", "data", "#", "?", "/", "\u0000", "é", ".", "..", "method", "💣", "<", "'", "\""])).join("");
    case 1: return "k=v&".repeat(pick(r, [1000, 30_000]));
    case 2: return `${pick(r, ["method", "csv.label", "note", "r", "model.hidden"])}=${"x,".repeat(40_000)}`;
  }
  const pairs = Object.entries(drawn(r, { ...fields, ...asked })).flatMap(([key, v]) =>
    v && typeof v === "object" && r() < 0.8 ? Object.entries(v).map(([k, w]) => `${key}.${k}=${written(r, w)}`) : [`${key}=${written(r, v)}`]);
  const hash = pairs.join(pick(r, ["&", "&", "&", ";", "&&"]));
  return r() < 0.2 ? hash.slice(0, below(r, hash.length + 1)) : hash;
}
