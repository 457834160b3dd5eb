// Features that a model of the visitor's makes of rows, through ONNX Runtime in the page,
// with the policy as it is: what they are, what is trained on them, that they are made
// once, also without a network, and that no file ends the page. The models are written
// here, with random weights.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { controlled, eventually, file, hasShared, ready, results, shared, stage, STILL, until } from "./browser.mjs";
import { open as openTokenizer } from "../tokenizer.mjs";
import { missing, sharedFirefox } from "./firefox.mjs";
import { FLOAT, INT64, STRING, UINT8, WIDTH, constant, drawn, kind, message, model, node, put, reader, unkind, value, vectors, vocabulary } from "./onnx.mjs";
import { mails, vocabulary as words } from "./transformers.mjs";

const { server, visit } = await stage();
const firefox = sharedFirefox({});

// The backbone: 64 random filters of 6×6, ReLU, and the means of four by four parts.
const FILTERS = 64, SIZE = 6;
const weights = drawn(FILTERS * 3 * SIZE * SIZE, 1 / Math.sqrt(3 * SIZE * SIZE));
for (let f = 0; f < FILTERS; f++) { // no answer to a picture of one colour
  const w = weights.subarray(f * 108, f * 108 + 108), mean = w.reduce((a, b) => a + b) / 108;
  w.forEach((v, i) => { w[i] = v - mean; });
}
const backbone = model({
  nodes: [
    node("Conv", ["x", "w"], ["c"], { kernel_shape: [SIZE, SIZE], strides: [2, 2] }), // 14 by 14
    node("Relu", ["c"], ["maps"]),
    node("AveragePool", ["maps"], ["p"], { kernel_shape: [5, 5], strides: [3, 3] }), // 4 by 4
    node("Flatten", ["p"], ["features"]),
  ],
  constants: [constant("w", [FILTERS, 3, SIZE, SIZE], weights)],
  inputs: [value("x", FLOAT, ["n", 3, 32, 32])],
  outputs: [value("features", FLOAT, ["n", FILTERS * 16]), value("maps", FLOAT, ["n", FILTERS, 14, 14])],
});

// reference is the first features of a picture of bytes: filter 0 in the first parts.
/** @param {Uint8Array} x */
function reference(x) {
  const at = (c, y, z) => x[c * 1024 + y * 32 + z] / 255;
  const map = Array.from({ length: 14 }, (_, y) => Array.from({ length: 14 }, (_, z) => {
    let sum = 0;
    for (let c = 0; c < 3; c++) for (let i = 0; i < SIZE; i++) for (let j = 0; j < SIZE; j++) sum += weights[(c * SIZE + i) * SIZE + j] * at(c, 2 * y + i, 2 * z + j);
    return Math.max(0, sum);
  }));
  return Array.from({ length: 12 }, (_, k) => {
    const y = 3 * Math.floor(k / 4), z = 3 * (k % 4);
    let sum = 0;
    for (let i = 0; i < 5; i++) for (let j = 0; j < 5; j++) sum += map[y + i][z + j];
    return sum / 25;
  });
}

// cifar is so many records of CIFAR-10, or pictures in ten colours where that is not there.
/** @param {string} name @param {number} rows @param {number} seed */
function cifar(name, rows, seed) {
  const size = 3073;
  if (hasShared("data", "cifar-10", name)) return gunzipSync(fs.readFileSync(path.join(shared, "data", "cifar-10", name))).subarray(0, rows * size);
  const out = Buffer.alloc(rows * size);
  for (let i = 0; i < rows; i++) {
    const label = out[i * size] = (i * 7 + seed) % 10;
    for (let p = 0; p < 3072; p++) out[i * size + 1 + p] = (p * (label + 1) + i * 13 + (p % 32) * 5) % 256;
  }
  return out;
}

// unpack makes Files in the page.
const unpack = () => {
  /** @type {any} */ (window).unpack = ({ name, base64 }) => new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], name);
};

test("a backbone makes features of pictures once, and a private head trains on them", async (t) => {
  const page = await visit(t, "", { serviceWorkers: "allow" });
  await page.evaluate(unpack);
  await controlled(page);
  const train = cifar("train_10k.bin.gz", 3000, 1), tests = cifar("test_10k.bin.gz", 500, 2);
  const sent = [file("backbone.onnx", backbone), file("data_batch_1.bin", train), file("test_batch.bin", tests)];
  const got = await page.evaluate(async (sent) => {
    const [model, ...files] = sent.map(/** @type {any} */ (window).unpack);
    const raw = /** @type {any} */ (window).raw = await clipscope.open({ train: [files[0]], test: [files[1]] });
    /** @type {any} */ (window).model = model;
    const info = await clipscope.backbone(model);
    const unchosen = await clipscope.features(model, raw).catch((e) => e.message);
    const phases = new Set();
    const data = /** @type {any} */ (window).features = await clipscope.features(model, raw, { output: "features" }, (p) => phases.add(p.phase));
    const run = await clipscope.train({ target_epsilon: 4 }, data);
    const result = await run.done;
    const total = await clipscope.ledger.total(raw);
    const { parameters, ...released } = result.released;
    return { info, unchosen, phases: [...phases], summary: data.summary, result: { ...result, released }, finite: parameters.every(Number.isFinite), total };
  }, sent);
  const sha256 = createHash("sha256").update(backbone).digest("hex");
  assert.deepEqual(got.info.inputs, [{ name: "x", type: "float32", shape: [-1, 3, 32, 32] }]);
  assert.deepEqual(got.info.outputs.map((o) => o.name), ["features", "maps"]);
  assert.match(got.unchosen, /features \[n, 1024\], maps \[n, 64, 14, 14\]/);
  const { summary, result } = got, made = summary.backbone;
  assert.deepEqual([summary.rows, summary.test_rows, summary.features, summary.outputs], [3000, 500, 1024, 10]);
  assert.deepEqual([made.sha256, made.output, made.normalise, made.batch, made.bytes, made.cached], [sha256, "features", "0-1", 1, backbone.length, undefined]);
  assert.ok(got.phases.includes("features") && got.phases.includes("runtime"), got.phases.join());
  const expected = reference(train.subarray(1, 3073));
  summary.preview.rows[0].slice(0, 12).forEach((v, k) => assert.ok(Math.abs(Number(v) - expected[k]) < 1e-4 * (1 + expected[k]), `feature ${k}: ${v}, not ${expected[k]}`));
  assert.ok(got.finite && result.test_accuracy > 0.2, `${result.test_accuracy} on test rows`);
  assert.ok(result.statement.text.includes(sha256) && /backbone/.test(result.guarantee));
  assert.equal(result.released.apply.features_of.sha256, sha256);
  assert.equal(got.total.runs.length, 1, "the run stands under the data's own files");

  // The same by hand.
  await page.setInputFiles("#files", { name: "data_batch_1.bin", mimeType: "", buffer: train.subarray(0, 200 * 3073) });
  await page.waitForFunction(() => document.querySelector("#card-data")?.textContent?.includes("160 × 3,072"));
  await page.setInputFiles("#backbone-file", { name: "by hand.onnx", mimeType: "", buffer: backbone });
  await page.selectOption("#backbone-output", "maps");
  await page.click("#backbone-make");
  await eventually(async () => {
    assert.match(await page.textContent("#backbone-used"), /output “maps” of by hand\.onnx/);
    assert.match(await page.textContent("#card-data"), /160 × 64, 10 classes/);
  });
  if (process.env.CLIPSCOPE_LOOK) await page.locator("#card-data").screenshot({ path: process.env.CLIPSCOPE_LOOK });
  await page.click("#backbone-drop");
  await page.waitForFunction(() => document.querySelector("#card-data")?.textContent?.includes("160 × 3,072"));

  // Once more: from storage, and without a network what was not made before as well.
  await until(page, async () => {
    for (const key of await caches.keys()) if (await (await caches.open(key)).match(new URL("/web/ort/ort.wasm", location.href).href)) return true;
    return false;
  });
  await page.context().setOffline(true);
  const again = await page.evaluate(async (few) => {
    const from = performance.now();
    const stored = await clipscope.features(/** @type {any} */ (window).model, /** @type {any} */ (window).raw, { output: "features" });
    const seconds = (performance.now() - from) / 1000;
    const other = await clipscope.features(/** @type {any} */ (window).model, { train: [/** @type {any} */ (window).unpack(few)] }, { output: "maps", normalise: "imagenet", batch: 64 });
    return { stored: stored.summary, seconds, other: other.summary, freed: await clipscope.forgetFeatures() };
  }, file("data_batch_2.bin", train.subarray(0, 200 * 3073)));
  await page.context().setOffline(false);
  assert.equal(again.stored.backbone.cached, true);
  assert.deepEqual(again.stored.preview, summary.preview);
  assert.deepEqual([again.other.features, again.other.backbone.batch, again.other.backbone.cached], [64, 64, undefined]);
  assert.ok(again.freed > 4 * 3500 * 1024, `${again.freed} bytes removed`);
  const figures = { backbone_bytes: backbone.length, rows: 3500, features: summary.features, seconds: made.seconds, memory_bytes: made.memory_bytes,
    cached_seconds: again.seconds, epsilon: result.epsilon, test_accuracy: result.test_accuracy };
  fs.writeFileSync(path.join(results, "features.json"), JSON.stringify(figures, null, 2) + "\n");
  t.diagnostic(JSON.stringify(figures));
  assert.deepEqual(page.errors, []);
});

test("a backbone makes features, once, and a head trains on them, Firefox", { skip: missing }, async (t) => {
  const page = await (await firefox()).page(server.url, t), train = cifar("train_10k.bin.gz", 300, 1);
  await ready(page);
  await page.evaluate(unpack);
  const got = await page.evaluate(async (sent) => {
    const [model, file] = sent.map(/** @type {any} */ (window).unpack), w = window;
    const data = await w.clipscope.features(model, { train: [file] }, { output: "features" });
    const result = await (await w.clipscope.train({ target_epsilon: 4, steps: 20 }, data)).done;
    const again = await w.clipscope.features(model, { train: [file] }, { output: "features" });
    const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle("clipscope-features");
    await folder.getDirectoryHandle("of somebody else", { create: true });
    return { summary: data.summary, steps: result.steps, again: again.summary, freed: await w.clipscope.forgetFeatures() };
  }, [file("backbone.onnx", backbone), file("data_batch_1.bin", train)]);
  const { summary } = got;
  assert.deepEqual([summary.rows + summary.test_rows, summary.features, got.steps, got.again.backbone.cached], [300, 1024, 20, true]);
  assert.deepEqual(got.again.preview, summary.preview);
  assert.ok(got.freed > 4 * 300 * 1024, `${got.freed} bytes removed`);
  t.diagnostic(`${summary.backbone.seconds} s, ${summary.backbone.memory_bytes} bytes`);
  assert.deepEqual(page.errors, []);
});

test("a backbone reads texts, and a private head trains on what it makes of them", async (t) => {
  const page = await visit(t, "");
  await page.evaluate(unpack);
  const pick = (list, i) => list[i % list.length];
  const rows = Array.from({ length: 1000 }, (_, i) => {
    const words = i % 2 ? kind : unkind, text = `The film was ${pick(words, i * 7 + (i >> 3))} and ${pick(words, i >> 1)}, ${i % 5 ? "Überraschend" : pick(i % 2 ? unkind : kind, i)}`;
    return `${i},"${text}",${i % 2 ? "kind" : "unkind"}`;
  });
  rows[3] = "3,,kind"; // a text that is missing
  rows[7] = rows[7].replace(/^7/, ""); // and a number, for which the table is refused at first
  const csv = Buffer.from(["n,review,says", ...rows].join("\n"));
  const sent = { files: [file("texts.csv", csv), ...[[1], ["n", 1]].map((dims) => file(`${dims.length}-${dims[0]}.onnx`, reader(dims)))] };
  const got = await page.evaluate(async ({ files }) => {
    const [table, ...models] = files.map(/** @type {any} */ (window).unpack), api = /** @type {any} */ (window).clipscope;
    const options = { columns: { review: "text", n: "ignored" }, missing: "zero", test_share: 0.2 };
    const raw = await api.open({ train: [table] }, options);
    const idle = await api.plan({}, raw).then(() => "planned", (e) => e.message);
    const whole = await api.features(models[0], raw, { output: "whole" }), data = await api.features(models[1], raw, { output: "parts" });
    const result = await (await api.train({ target_epsilon: 2 }, data, { anyway: true })).done;
    return { idle, whole: whole.summary.preview.rows, preview: raw.summary.preview, features: raw.summary.features, summary: data.summary, accuracy: result.test_accuracy, guarantee: result.guarantee, of: result.released.apply.features_of };
  }, sent);
  assert.equal(got.idle, "planned"); // on hashed words, which a backbone replaces
  assert.deepEqual([got.features, got.summary.features, got.summary.backbone.column, got.summary.rows], [1 << 14, WIDTH, "review", 800]);
  // What a text's features are, worked out here; the first rows of the data are rows of the table.
  const expected = (/** @type {string} */ text) => {
    const words = text.toLowerCase().split(" ").filter(Boolean).map((w) => vocabulary.indexOf(w) + 1);
    return Array.from({ length: WIDTH }, (_, k) => words.reduce((sum, w) => sum + vectors[w * WIDTH + k], 0) / Math.max(words.length, 1));
  };
  assert.match(got.preview.values[0][1], /^\d+ words → \d+ features$/);
  assert.deepEqual(got.preview.values.map((r) => r[1]).indexOf("no words: zeros"), 3);
  for (const made of [got.whole, got.summary.preview.rows]) {
    let missing = 0;
    for (const [i, row] of made.entries()) {
      const cells = row.slice(0, WIDTH).map(Number), known = rows.map((r) => r.split('"')[1] ?? "").findIndex((text) => expected(text).every((v, k) => Math.abs(v - cells[k]) < 1e-4));
      assert.ok(known >= 0, `row ${i}: ${cells} are of no text`);
      if (cells.every((v) => v === 0)) missing++;
    }
    assert.ok(missing <= 1);
  }
  assert.ok(got.accuracy > 0.85, `${got.accuracy} on test rows`);
  assert.match(got.guarantee, /from the text in its column "review" \(SHA-256 [0-9a-f]{64}, output "parts"\).*run for every row alone/);
  assert.equal(got.of.column, "review");
  t.diagnostic(`accuracy ${got.accuracy}, ${got.summary.backbone.seconds} s for 1,000 texts`);

  // The same by hand: the column is said to be text, and the model chosen.
  await page.setInputFiles("#files", { name: "texts.csv", mimeType: "text/csv", buffer: csv });
  await page.selectOption('#table [aria-label="Kind of column review"]', "text");
  await page.waitForFunction(() => document.querySelector("#table .as + .as")?.textContent?.includes("texts, hashed"));
  // While the dialog is open the table is read in another way, and its card drawn anew.
  const dialog = page.waitForEvent("filechooser");
  await page.locator("#backbone > summary").click();
  await page.locator('label[for="backbone-file"]').click();
  const chooser = await dialog, asked = await page.$("#backbone-file");
  await page.selectOption("#f-csv-missing", "zero");
  await page.waitForFunction((input) => !input?.isConnected, asked);
  await chooser.setFiles({ name: "reader.onnx", mimeType: "", buffer: reader(["n"]) });
  await page.selectOption("#backbone-output", "whole");
  await page.click("#backbone-make");
  await eventually(async () => {
    assert.match(await page.textContent("#backbone-used"), /output “whole” of reader\.onnx .* for the texts in “review”/);
    assert.match(await page.textContent("#card-data"), /800 × 8, 2 classes/);
  });
  await page.screenshot({ path: path.join(results, "texts.png") });
  assert.deepEqual(page.errors, []);
});

// tokenModel takes the numbers of tokens: a vector for each, and one for its type; the mean over those that the mask has is a second
// output.
const DIM = 6, TOKENS = 27, tokenVectors = drawn(TOKENS * DIM, 1), typeVectors = drawn(2 * DIM, 3).map((v) => v + 1);
/** @param {{ dims?: (number | string)[], mask?: boolean, more?: string, tokens?: number, type?: number }} [of] */
const tokenModel = ({ dims = ["n", "t"], mask = true, more, tokens = TOKENS, type = INT64 } = {}) => model({
  nodes: [
    node("Gather", ["vectors", "input_ids"], ["e"]), node("Gather", ["kinds", "token_type_ids"], ["k"]), node("Add", ["e", "k"], ["last_hidden_state"]),
    ...mask ? [node("Cast", ["attention_mask"], ["m"], { to: FLOAT }), node("Unsqueeze", ["m", "last"], ["m3"]), node("Mul", ["last_hidden_state", "m3"], ["kept"]), node("ReduceSum", ["kept", "one"], ["sum"], { keepdims: 0 }),
      node("ReduceSum", ["m", "one"], ["many"]), node("Div", ["sum", "many"], ["pooler_output"])] : [],
  ],
  constants: [constant("vectors", [tokens, DIM], tokenVectors.slice(0, tokens * DIM)), constant("kinds", [2, DIM], typeVectors), constant("last", [1], BigInt64Array.of(2n)), constant("one", [1], BigInt64Array.of(1n))],
  inputs: [value("input_ids", type, dims), ...mask ? [value("attention_mask", type, dims)] : [], value("token_type_ids", type, dims), ...more ? [value(more, type, dims)] : []],
  outputs: [value("last_hidden_state", FLOAT, [...dims, DIM]), ...mask ? [value("pooler_output", FLOAT, [dims[0], DIM])] : []],
});

test("a model of tokens reads texts, and pairs of them, by its tokenizer", async (t) => {
  const page = await visit(t, ""), vocab = words(), table = mails(120), tokenizer = await openTokenizer(vocab), bytes = Buffer.from(await vocab.arrayBuffer());
  await page.evaluate(unpack);
  const pairs = table.replace("text,", "question,text,").replaceAll(/^(?!question)/gm, (_, at, s) => at < s.length ? "is it good?," : "");
  const good = { open: tokenModel(), short: tokenModel({ type: 6 }), fixed: tokenModel({ dims: [1, 64] }) };
  const bad = { other: tokenModel({ more: "past_key_values" }), maskless: tokenModel({ dims: ["n", 32], mask: false }), ranks: tokenModel({ dims: ["n", "t", "k"], mask: false }), few: tokenModel({ tokens: 4 }), floats: model({ nodes: [node("Identity", ["input_ids"], ["y"])], inputs: [value("input_ids", FLOAT, ["n", "t"])], outputs: [value("y", FLOAT, ["n", "t"])] }), pictures: backbone };
  const got = await page.evaluate(async ({ files, good, bad }) => {
    const { unpack, clipscope: api } = /** @type {any} */ (window), [vocab, single, double] = files.map(unpack), options = { label: "answer", columns: { text: "text", question: "text" } };
    const raw = await api.open({ train: [single] }, { label: "answer", columns: { text: "text" } }), two = await api.open({ train: [double] }, options);
    const rejects = (/** @type {Promise<any>} */ p) => p.then(() => "it was taken", (e) => e.message), made = {}, refused = {};
    const rows = async (model, data, output, more = {}) => (await api.features([model, vocab], data, { output, ...more })).summary.preview.rows.map((r) => r.slice(0, 6).map(Number));
    for (const f of good.map(unpack)) {
      const n = f.name === "fixed" ? 64 : 128;
      made[f.name] = { names: (await api.backbone([vocab, f])).outputs.map((o) => o.name), mean: await rows(f, raw, `last_hidden_state, mean of ${n} tokens`), pooled: await rows(f, raw, `pooler_output of ${n} tokens`), first: await rows(f, raw, `last_hidden_state, the first of ${n} tokens`), two: await rows(f, two, `last_hidden_state, mean of ${n} tokens`) };
    }
    const model = unpack(good[0]);
    made.open.batch = await rows(model, raw, "last_hidden_state, mean of 128 tokens", { batch: 7 });
    made.cut = await rows(unpack(good[0]), two, "last_hidden_state, mean of 64 tokens");
    for (const f of bad.map(unpack)) refused[f.name] = await rejects(api.features([f, vocab], raw, { output: "last_hidden_state, mean of 128 tokens" }));
    refused.alone = await rejects(api.features(model, raw));
    refused.two = await rejects(api.features([model, model], raw));
    refused.numbers = await rejects(api.features([model, vocab], { train: [new File(["a,b,answer\n1,2,x\n3,4,y\n1,2,x\n3,4,y\n"], "numbers.csv")] }, { output: "pooler_output of 128 tokens" }));
    const data = await api.features([model, vocab], raw, { output: "last_hidden_state, mean of 128 tokens" }), done = await (await api.train({ steps: 5, target_epsilon: 2 }, data)).done;
    return { made, refused, guarantee: done.guarantee, of: done.released.apply.features_of, summary: data.summary };
  }, { files: [file("vocab.txt", bytes), file("mails.csv", Buffer.from(table)), file("pairs.csv", Buffer.from(pairs))],
    good: Object.entries(good).map(([name, b]) => file(name, b)), bad: Object.entries(bad).map(([name, b]) => file(name, b)) });

  const { made, refused } = got, ways = (n) => [`last_hidden_state, mean of ${n} tokens`, `last_hidden_state, the first of ${n} tokens`, `pooler_output of ${n} tokens`];
  assert.deepEqual([made.open.names, made.fixed.names], [[128, 64, 256, 512].flatMap(ways), ways(64)]);
  // What the features of a row of tokens are, worked out here.
  const vector = (/** @type {number} */ token, /** @type {number} */ k) => tokenVectors[token % TOKENS * DIM + k] + typeVectors[Math.floor(token / TOKENS) * DIM + k];
  const mean = (/** @type {number[]} */ tokens) => Array.from({ length: DIM }, (_, k) => tokens.reduce((s, token) => s + vector(token, k), 0) / tokens.length);
  const each = (/** @type {string} */ csv, /** @type {boolean} */ pair) => csv.trim().split("\n").slice(1).map((line) => [...tokenizer.run(line.split(",").slice(0, pair ? 2 : 1), `128 tokens${pair ? " with types" : ""}`, pair).values].filter((v) => v >= 0));
  const near = (/** @type {number[]} */ a, /** @type {number[]} */ b) => a.every((v, k) => Math.abs(v - b[k]) <= 1e-4);
  for (const [name, { mean: means, pooled, first, two, batch }] of Object.entries(made).filter(([n]) => n !== "cut")) {
    for (const list of [means, pooled, ...batch ? [batch] : []]) for (const row of list) assert.ok(each(table, false).some((tokens) => near(row, mean(tokens))), `${name}: ${row} are of no text`);
    for (const row of two) assert.ok(each(pairs, true).some((tokens) => near(row, mean(tokens))), `${name}: ${row} are of no two texts`);
    for (const row of first) assert.ok(near(row, mean([2])), `${name}: ${row} are not those of [CLS]`);
  }
  for (const [name, says] of Object.entries({
    other: /input past_key_values is none that a tokenizer can give: input_ids, /, maskless: /takes 32 tokens of each text, and has no input attention_mask/, ranks: /is not \[rows, tokens\]/, few: /few/, floats: /input_ids is of float32/, pictures: /input x .*choose the model without a tokenizer|input x is of float32/,
    alone: /choose its tokenizer together with it, tokenizer\.json or vocab\.txt/, two: /a model alone, or with its tokenizer/, numbers: /one column of texts/,
  })) assert.match(refused[name], says, name);
  const sums = [good.open, bytes].map((b) => createHash("sha256").update(b).digest("hex"));
  assert.deepEqual([got.of.sha256, got.of.tokenizer_sha256, got.summary.backbone.tokenizer_sha256, got.of.column], [...sums, sums[1], "text"]);
  assert.ok(sums.every((s) => got.guarantee.includes(s)) && /became tokens by the tokenizer/.test(got.guarantee), got.guarantee);

  // By hand: the model first, which asks for its tokenizer, then a broken one, and then the right one.
  for (const name of ["other.csv", "mails.csv"]) {
    await page.setInputFiles("#files", { name, mimeType: "text/csv", buffer: Buffer.from(table) });
    await page.locator("#card-data .card-line", { hasText: name }).waitFor();
    if (name === "other.csv") await page.locator("#backbone > summary").click();
  }
  await page.locator("#backbone[open]").waitFor(); // though the card was drawn anew for the table
  await page.setInputFiles("#backbone-file", { name: "model.onnx", mimeType: "", buffer: good.open });
  await page.locator("#backbone", { hasText: "Choose its tokenizer as well" }).waitFor();
  await page.setInputFiles("#backbone-file", { name: "tokenizer.json", mimeType: "", buffer: Buffer.from("{") });
  await page.locator("#backbone-fault", { hasText: /model\.onnx: a model that cannot be run with this tokenizer \(tokenizer\.json is no JSON/ }).waitFor();
  await page.setInputFiles("#backbone-file", { name: "vocab.txt", mimeType: "", buffer: bytes });
  await page.selectOption("#backbone-output", "pooler_output of 128 tokens");
  await page.click("#backbone-make");
  await eventually(async () => assert.match(await page.textContent("#backbone-used"), /output “pooler_output of 128 tokens” of model\.onnx .* for the texts in “text”/));
  await page.setInputFiles("#backbone-file", [{ name: "vocab.txt", mimeType: "", buffer: bytes }, { name: "both.onnx", mimeType: "", buffer: good.open }]);
  await page.locator("#backbone", { hasText: "both.onnx: " }).waitFor();
  assert.deepEqual(page.errors.filter((e) => !e.includes("indices element out of data bounds")), []); // the runtime says so of the model with few vectors
});

// hostile are files that call themselves models, and what is said of some. There are 50
// with CLIPSCOPE_TRIALS, of which the last are drawn.
const MANY = process.env.CLIPSCOPE_TRIALS ? 50 : 26;
/** @returns {{ name: string, bytes: Uint8Array, says?: RegExp }[]} */
function hostile() {
  const x = value("x", FLOAT, ["n", 3, 32, 32]), y = value("y", FLOAT, ["n", 8]);
  const flat = node("Flatten", ["x"], ["y"]);
  const named = (name, bytes, says) => ({ name, bytes, says });
  const all = [
    named("empty", Buffer.alloc(0), /empty file/),
    named("text", Buffer.from("This is not a model.")),
    named("zeros", Buffer.alloc(100_000)),
    named("two inputs", model({ nodes: [node("Add", ["x", "z"], ["y"])], inputs: [x, value("z", FLOAT, ["n", 3, 32, 32])], outputs: [value("y", FLOAT, ["n", 3, 32, 32])] }), /one input/),
    named("no input", model({ nodes: [node("Identity", ["w"], ["y"])], constants: [constant("w", [1, 2], Float32Array.of(1, 2))], inputs: [], outputs: [value("y", FLOAT, [1, 2])] }), /one input/),
    named("no output", model({ nodes: [flat], inputs: [x], outputs: [] })),
    named("no graph", message(put(1, 8), put(8, message(put(1, ""), put(2, 13))))),
    named("an unknown operator", model({ nodes: [node("Exfiltrate", ["x"], ["y"])], inputs: [x], outputs: [y] })),
    named("texts", model({ nodes: [node("Identity", ["x"], ["y"])], inputs: [value("x", STRING, ["n", 4])], outputs: [value("y", STRING, ["n", 4])] }), /one text a row/),
    named("tokens", model({ nodes: [node("Identity", ["input_ids"], ["y"])], inputs: [value("input_ids", INT64, ["n", 4])], outputs: [value("y", INT64, ["n", 4])] }), /input_ids of int64.*choose its tokenizer together with it/),
    named("bytes that are no floats", model({ nodes: [flat], inputs: [value("x", UINT8, ["n", 3, 32, 32])], outputs: [value("y", UINT8, ["n", 3072])] }), /float32/),
    named("a batch of a million", model({ nodes: [flat], inputs: [value("x", FLOAT, [1_000_000, 3, 32, 32])], outputs: [value("y", FLOAT, [1_000_000, 3072])] }), /rows at a time/),
    named("huge pictures", model({ nodes: [node("Identity", ["x"], ["y"])], inputs: [value("x", FLOAT, ["n", 3, 1e8, 1e8])], outputs: [value("y", FLOAT, ["n", 3, 1e8, 1e8])] }), /at most 4096/),
    named("large pictures", model({ nodes: [node("Identity", ["x"], ["y"])], inputs: [value("x", FLOAT, ["n", 3, 4096, 4096])], outputs: [value("y", FLOAT, ["n", 3, 4096, 4096])] }), /at most 16777216/),
    named("five channels", model({ nodes: [flat], inputs: [value("x", FLOAT, ["n", 5, 32, 32])], outputs: [value("y", FLOAT, ["n", 5120])] }), /1 or 3 channels/),
    named("rows of another size", model({ nodes: [node("Identity", ["x"], ["y"])], inputs: [value("x", FLOAT, ["n", 17])], outputs: [value("y", FLOAT, ["n", 17])] }), /17 features/),
    named("everything open", model({ nodes: [node("Identity", ["x"], ["y"])], inputs: [value("x", FLOAT, ["a", "b", "c", "d", "e"])], outputs: [value("y", FLOAT, ["a", "b", "c", "d", "e"])] }), /an input \[n, features\]/),
    named("one number for all rows", model({ nodes: [node("ReduceSum", ["x"], ["y"], { keepdims: 0 })], inputs: [x], outputs: [value("y", FLOAT, [])] }), /an output for each/),
    named("terabytes of zeros", model({ nodes: [node("ConstantOfShape", ["s"], ["z"]), node("Flatten", ["x"], ["f"]), node("ReduceSum", ["z"], ["t"], { keepdims: 0 }), node("Add", ["f", "t"], ["y"])],
      constants: [constant("s", [2], BigInt64Array.of(1n << 20n, 1n << 20n))], inputs: [x], outputs: [value("y", FLOAT, ["n", 3072])] })),
    named("random", model({ nodes: [node("Flatten", ["x"], ["f"]), node("RandomNormalLike", ["f"], ["r"]), node("Add", ["f", "r"], ["y"])], inputs: [x], outputs: [value("y", FLOAT, ["n", 3072])] }), /when it was asked again/),
    named("a constant that claims more than it has", model({ nodes: [node("Conv", ["x", "w"], ["y"])], constants: [constant("w", [1 << 20, 3, 1 << 10, 1 << 10], Float32Array.of(1))], inputs: [x], outputs: [value("y", FLOAT, ["n", 1, 1, 1])] })),
    named("a loop of itself", model({ nodes: [node("Relu", ["b"], ["a"]), node("Relu", ["a"], ["b"]), node("Add", ["x", "a"], ["y"])], inputs: [x], outputs: [value("y", FLOAT, ["n", 3, 32, 32])] })),
  ];
  for (let i = 0; all.length < MANY; i++) {
    const cut = backbone.subarray(0, Math.floor(backbone.length * (i + 1) / 40)), bytes = Buffer.from(i % 2 ? backbone : cut);
    // Of the whole one, a byte of what is before the weights.
    if (i % 2) bytes[bytes.length - 1 - (i * 29) % 260] ^= 1 << i % 8;
    all.push(named(i % 2 ? `damaged ${i}` : `cut ${i}`, bytes));
  }
  return all;
}

test("files that are no model for the data are refused in words, and the page stays", async (t) => {
  const page = await visit(t, STILL);
  await page.evaluate(unpack);
  const files = hostile();
  const outcomes = await page.evaluate(async ({ files, pictures }) => {
    const raw = await clipscope.open({ train: [/** @type {any} */ (window).unpack(pictures)] });
    const tried = [];
    const next = async () => {
      for (let f; (f = files.shift());) {
        const index = tried.push({}) - 1;
        tried[index] = { name: f.name, error: await clipscope.features(/** @type {any} */ (window).unpack(f), raw, { output: f.output }).then((d) => { d.close(); }, (e) => ({ name: e.name, message: e.message })) };
      }
    };
    await Promise.all([next(), next()]);
    const run = await clipscope.train({ data: "moons", steps: 3 });
    await run.done;
    return tried;
  }, { pictures: file("data_batch_1.bin", cifar("train_10k.bin.gz", 20, 1)),
    files: files.map(({ name, bytes }) => ({ ...file(name, bytes), output: /^(cut|damaged)/.test(name) ? "features" : undefined })) });
  assert.equal(outcomes.length, MANY);
  for (const { name, error } of outcomes) {
    const { says } = files.find((f) => f.name === name) ?? {};
    if (error === undefined) {
      assert.match(name, /^damaged/, `${name}: accepted`); // a weight, or a name, that may be another
      continue;
    }
    assert.equal(error.name, "ClipscopeError", `${name}: ${error.message}`);
    assert.ok(error.message.includes(name) && error.message.length < 1100, `${name}: ${error.message}`);
    assert.doesNotMatch(error.message, /ended unexpectedly|in a way it should not/, name);
    if (says) assert.match(error.message, says, name);
  }
  t.diagnostic(outcomes.filter((o) => o.error).length + ` of ${MANY} refused`);
  assert.deepEqual(page.errors, []);
});
