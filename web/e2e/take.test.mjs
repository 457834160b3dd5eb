// A model that is taken away: what predict.mjs, predict.py and an ONNX file make of rows is
// the same, and what the page makes of them.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import zlib from "node:zlib";
import * as ort from "onnxruntime-web";
import { file, hasShared, shared, stage, STILL, unzip } from "./browser.mjs";
import { numpy, python, PYTHON, withoutNumpy } from "./python.mjs";

const { visit } = await stage();
ort.env.logLevel = "error";

function randomly(seed) {
  let state = seed;
  return () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
}

// tensors reads a safetensors file as strictly as its own library does: tensors follow each
// other without gaps from the header to the end of the file.
/** @param {Buffer} b */
function tensors(b) {
  const length = Number(b.readBigUInt64LE()), header = JSON.parse(b.toString("utf8", 8, 8 + length)), from = 8 + length;
  const { __metadata__: meta, ...rest } = header;
  for (const v of Object.values(meta)) assert.equal(typeof v, "string");
  let at = 0;
  const all = Object.entries(rest).sort(([, a], [, b]) => a.data_offsets[0] - b.data_offsets[0]).map(([name, { dtype, shape, data_offsets: [begin, end] }]) => {
    assert.deepEqual([dtype, begin, end - begin], ["F32", at, 4 * shape.reduce((x, y) => x * y, 1)], name);
    at = end;
    return [name, new Float32Array(new Uint8Array(b.subarray(from + begin, from + end)).buffer)];
  });
  assert.equal(from + at, b.length);
  return { meta, all };
}

// --- data ---

// table is rows of cells with a header, in a semicolon's style of numbers and dates.
function table(n, seed, target) {
  const random = randomly(seed), pick = (...of) => of[Math.floor(random() * of.length)];
  const rows = Array.from({ length: n }, () => {
    const price = random() * 4000, kind = pick("red", "green", "blue, dark");
    const cells = [price.toFixed(2), String(18 + Math.floor(random() * 70)), `${pick(1999, 2010, 2021)}-0${pick(1, 5, 9)}-1${pick(2, 7)}`, kind, `Street ${Math.floor(random() * 400)}`];
    for (const [i, word] of [[1, "NA"], [3, "n/a"], [4, ""]]) if (random() < 0.1) cells[i] = word;
    if (seed !== 1 && random() < 0.02) cells[3] = "violet"; // which no training row is
    return [...cells, target(price, kind)];
  });
  const quote = (s) => /[,"]/.test(s) ? `"${s}"` : s;
  return { rows, csv: ["price,age,since,colour,street,y", ...rows.map((r) => r.map(quote).join(","))].join("\n") };
}

function idx(rows, labels, side) {
  const header = (kind, ...sizes) => [0, 0, 8, kind, ...sizes.flatMap((s) => [s >>> 24, s >>> 16 & 255, s >>> 8 & 255, s & 255])];
  return [Buffer.concat([Buffer.from(header(3, rows.length, side, side)), ...rows.map((r) => Buffer.from(r))]), Buffer.from([...header(1, labels.length), ...labels])];
}

// digits are MNIST's, or where that is not there, squares at ten places.
function digits(n, test) {
  const names = ["images-idx3-ubyte.gz", "labels-idx1-ubyte.gz"].map((s) => path.join("data/mnist", (test ? "t10k-" : "train-") + s));
  if (names.every((name) => hasShared(name))) {
    const [images, labels] = names.map((name) => zlib.gunzipSync(fs.readFileSync(path.join(shared, name))));
    return { rows: Array.from({ length: n }, (_, i) => [...images.subarray(16 + 784 * i, 16 + 784 * (i + 1))]), labels: [...labels.subarray(8, 8 + n)] };
  }
  const random = randomly(test ? 2 : 1), labels = Array.from({ length: n }, (_, i) => i % 10);
  return { rows: labels.map((k) => Array.from({ length: 784 }, (_, i) => Math.floor(100 * random()) + (Math.floor(i / 79) === k ? 150 : 0))), labels };
}

// colours are pictures of 32×32 in three planes, as CIFAR-10's files have them.
function colours(n, seed) {
  const random = randomly(seed), labels = Array.from({ length: n }, (_, i) => i % 10);
  return { labels, rows: labels.map((k) => Array.from({ length: 3072 }, (_, i) => Math.floor(150 * random() + (i % 10 === k ? 100 : 0)))) };
}

// patches are small pictures of ten kinds.
function patches(n, test) {
  const random = randomly(test ? 2 : 1), labels = Array.from({ length: n }, (_, i) => i % 10);
  return { labels, rows: labels.map((k) => Array.from({ length: 64 }, (_, i) => Math.floor(100 * random()) + (i % 10 === k ? 150 : 0))) };
}

const pictures = (make, side) => {
  const [learn, held] = [make(1000, false), make(1000, true)], [a, b] = idx(learn.rows, learn.labels, side), [c, d] = idx(held.rows, held.labels, side);
  return { ...held, files: { train: [file("train-images-idx3-ubyte", a), file("train-labels-idx1-ubyte", b)], test: [file("t10k-images-idx3-ubyte", c), file("t10k-labels-idx1-ubyte", d)] } };
};
const cifar = () => {
  const [learn, held] = [colours(300, 1), colours(1000, 2)], pack = ({ rows, labels }) => Buffer.concat(rows.map((r, i) => Buffer.from([labels[i], ...r])));
  return { ...held, files: { train: [file("data_batch_1.bin", pack(learn))], test: [file("test_batch.bin", pack(held))] } };
};
const tables = (target) => {
  const [learn, held] = [table(1500, 1, target), table(1000, 2, target)];
  return { rows: held.rows.map((r) => [...r.slice(0, 5), ""]), csv: held.csv, files: { train: [file("t.csv", Buffer.from(learn.csv))], test: [file("t.test.csv", Buffer.from(held.csv))] } };
};

// --- the same three times ---

// feeds are the inputs of an ONNX session for rows.
function feeds(session, rows, { columns }) {
  if (!columns) return { [session.inputNames[0]]: new ort.Tensor("float32", rows.flat(), [rows.length, ...session.inputMetadata[0].shape.slice(1)]) };
  const hash = (s) => [...new TextEncoder().encode(s)].reduce((h, b) => Math.imul(h ^ b, 16777619) >>> 0, 2166136261);
  return Object.fromEntries(session.inputNames.map((name) => {
    const i = columns.findIndex((c) => c.name === name), c = columns[i], cells = rows.map((r) => r[i]), gone = (s) => ["", "NA", "n/a"].includes(s);
    if (c.buckets) return [name, new ort.Tensor("int64", cells.map((s) => BigInt(gone(s) ? c.categories.indexOf("(missing)") : hash(s) % c.buckets)), [rows.length, 1])];
    if (c.kind === "categorical") return [name, new ort.Tensor("string", cells, [rows.length, 1])];
    const { type } = session.inputMetadata.find((m) => m.name === name), list = type === "float64" ? Float64Array : Float32Array;
    return [name, new ort.Tensor(type, new list(cells.map((s) => gone(s) ? NaN : c.date ? Date.parse(s) / 86400_000 : Number(s))), [rows.length, 1])];
  }));
}

const driver = `
import json, sys
import numpy as np
from predict import load
file, rows = json.load(sys.stdin)
said = load(file).predict(np.array(rows) if isinstance(rows[0][0], int) else rows)
json.dump([said.answers, said.outputs.tolist()], sys.stdout)
`;

// apart is the largest difference of any two numbers, of numbers beyond 1 by their size.
const apart = (a, b) => Math.max(...a.map((r, i) => Math.max(...r.map((v, k) => Math.abs(v - b[i][k]) / Math.max(1, Math.abs(v))))));

const csv = { label: "y", missing: "indicator", columns: { street: "bucketed" }, buckets: 8, fill: { age: 40 } };
const cases = /** @type {[string, () => any, any][]} */ ([
  ["a table with categories and missing cells", () => tables((price) => price > 2000 ? "much" : "little"), { csv, model: { kind: "mlp", hidden: [7] }, scaling: { kind: "private" } }],
  ["numbers", () => tables((price, kind) => String(price / 100 - kind.length)), { csv: { ...csv, missing: "zero" }, scaling: { kind: "declared", lo: 0, hi: 20_000 } }],
  ["digits", () => pictures(digits, 28), { model: { kind: "softmax" } }],
  ["a network with all that pictures take", cifar, { model: { kind: "layers", layers: ["conv:8:5:s3:p2", "groupnorm:4", "relu", "skip:6:s2", "wsconv:6:3:s2:p1", "groupnorm:1", "add", "skip", "tanh", "add", "maxpool:2:s1", "bias", "avgpool:2", "flatten", "dense:9", "tanh", "dense"] } }],
  ["directions", () => pictures(patches, 8), { model: { kind: "softmax" }, pca: { components: 9 } }],
  ["short rows", () => pictures(patches, 8), { model: { kind: "layers", layers: ["conv:6:3:s3", "relu", "globalpool", "dense"] }, method: "value", scaling: { kind: "row" } }],
]);

test("predict.mjs, predict.py, ONNX and the page agree", async (t) => {
  const page = await visit(t, STILL);
  for (const [name, make, config] of cases) {
    await t.test(name, (t) => agree(t, page, make(), config));
  }
  assert.deepEqual(page.errors, []);
});

async function agree(t, page, data, config) {
  const made = await page.evaluate(async ({ config, files, rows }) => {
    const open = (list) => list.map(({ name, base64 }) => new File([Uint8Array.from(atob(base64), (x) => x.charCodeAt(0))], name));
    const result = await (await clipscope.train(config, { train: open(files.train), test: open(files.test) })).done, seen = [];
    const zip = await clipscope.convert(result, "zip", { onProgress: (bytes) => seen.push(bytes) });
    const loaded = await clipscope.load(zip), own = await loaded.predict(rows);
    loaded.dispose();
    const text = await new Promise((resolve) => { const r = new FileReader(); r.onload = () => resolve(r.result); r.readAsDataURL(zip); });
    return { zip: text.split(",")[1], size: zip.size, seen, own, confusion: result.test_scores.confusion, statement: result.statement.text, version: clipscope.version };
  }, { config: { target_epsilon: 50, steps: 15, expected_batch_size: 100, ...config }, files: data.files, rows: data.labels ? data.rows.slice(0, 100) : data.rows });
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), "clipscope-take-"));
  t.after(() => fs.rmSync(dir, { recursive: true }));
  const all = unzip(Buffer.from(made.zip, "base64"));
  for (const [name, bytes] of Object.entries(all)) fs.writeFileSync(path.join(dir, name), bytes);
  assert.deepEqual(Object.keys(all).sort(), ["README.txt", "model.json", "model.onnx", "model.safetensors", "predict.mjs", "predict.py", "statement.txt"]);
  assert.equal(made.seen.at(-1), made.size);
  assert.equal(String(all["statement.txt"]), made.statement);

  const model = JSON.parse(String(all["model.json"]));
  assert.deepEqual([model.format, model.version, model.program, model.statement], ["clipscope-model", 1, "Clipscope " + made.version, made.statement]);
  const { meta, all: named } = tensors(all["model.safetensors"]);
  assert.deepEqual([meta.format, meta.version, meta.program, JSON.parse(meta.apply)], ["clipscope-model", "1", model.program, model.apply]);
  assert.deepEqual(named.flatMap(([, v]) => [...v]), model.parameters.map(Math.fround));

  const { load } = await import(pathToFileURL(path.join(dir, "predict.mjs")).href);
  const one = load(String(all["model.json"])), other = load(new Uint8Array(all["model.safetensors"])), few = data.rows.slice(0, 50);
  const script = data.rows.map((r) => one.predict(r)), outputs = script.map((a) => a.outputs), answers = script.map((a) => String(a.answer));
  assert.deepEqual(few.map((r) => other.predict(r)), script.slice(0, 50));
  const regression = model.apply.task === "regression";
  if (data.labels) {
    const confusion = made.confusion.map((row) => row.map(() => 0));
    answers.forEach((a, i) => confusion[data.labels[i]][model.apply.classes.indexOf(a)]++);
    assert.deepEqual(confusion, made.confusion, "what the page itself made of the rows");
  }
  assert.ok(apart(outputs, outputs.map(() => outputs[0])) > 1e-3, "all rows have the same answer");

  const own = made.own.map((a) => a.outputs);
  assert.ok(apart(own, outputs) < 1e-5, `the page is ${apart(own, outputs)} apart`);
  if (!regression) assert.deepEqual(made.own.map((a) => a.answer), answers.slice(0, own.length));
  const session = await ort.InferenceSession.create(all["model.onnx"], { executionProviders: ["wasm"] });
  t.after(() => session.release());
  const said = await session.run(feeds(session, data.rows, model.apply)), flat = [...(said.probabilities ?? said.numbers).data], n = model.apply.outputs;
  const onnx = data.rows.map((_, i) => flat.slice(n * i, n * (i + 1)));
  assert.ok(apart(outputs, onnx) < 1e-5, `ONNX is ${apart(outputs, onnx)} apart`);
  if (!regression) assert.deepEqual([...said.label.data], answers);
  if (!numpy) return t.diagnostic(withoutNumpy);
  for (const [name, rows] of [["model.json", data.rows], ["model.safetensors", few]]) {
    const [words, told] = python(driver, [name, rows], dir);
    assert.ok(apart(told, outputs) < 1e-5, `predict.py is ${apart(told, outputs)} apart`);
    if (!regression) assert.deepEqual(words, answers.slice(0, rows.length));
    t.diagnostic(`${name}: from predict.mjs the page is ${apart(own, outputs).toExponential(1)}, ONNX ${apart(onnx, outputs).toExponential(1)}, predict.py ${apart(told, outputs).toExponential(1)}`);
  }
  if (data.csv) {
    fs.writeFileSync(path.join(dir, "rows.csv"), "\ufeff" + data.csv);
    const lines = [[PYTHON, "predict.py"], [process.execPath, "predict.mjs"]].map(([program, ...args]) => execFileSync(program, [...args, "model.json", "rows.csv"], { cwd: dir, encoding: "utf8" }).trim().split("\n"));
    assert.deepEqual([lines[0][0], lines[0].length], [lines[1][0], 1001]);
    const parts = (line) => line.split(",").map((s) => s.replace(/e([+-])0/, "e$1"));
    lines[0].forEach((line, i) => parts(line).forEach((s, k) => {
      const other = parts(lines[1][i])[k];
      assert.ok(s === other || Math.abs(Number(s) - Number(other)) < 1e-5 * Math.max(1, Math.abs(Number(s))), `line ${i + 1}: ${s} and ${other}`);
    }));
  }
}

test("what cannot be converted is said, and a conversion can be called off", async (t) => {
  const page = await visit(t, STILL);
  const said = await page.evaluate(async () => {
    const why = (...args) => clipscope.convert(...args).then(() => "done", (e) => e.message), off = new AbortController();
    off.abort();
    return [await why({}, "zip"), await why({ released: {} }, "zip"), await why(new File(["nothing"], "x.json"), "onnx"), await why("{}", "zip", { signal: off.signal })];
  });
  for (const [i, want] of [/Give a model's file/, /no model in this result/, /model/, /abort/].entries()) assert.match(said[i], want);
  assert.deepEqual(page.errors, []);
});
