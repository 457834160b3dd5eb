// A transformer of the visitor's: its tokenizer makes tokens of texts, and a run starts from its checkpoint and trains the last block.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { convert } from "../checkpoint.mjs";
import { load } from "../predict.mjs";
import { STILL, eventually, file, ready, results, stage, start, unzip } from "./browser.mjs";
import { checkpoint, files, json, mails, noCheckpoints, noTokenizers, vocabulary } from "./transformers.mjs";

const { visit } = await stage();

const sent = async (f) => file(f.name, Buffer.from(await f.arrayBuffer()));
const upload = async (f) => ({ name: f.name, mimeType: "", buffer: Buffer.from(await f.arrayBuffer()) });
const sha = (b) => createHash("sha256").update(b).digest("hex");

test("texts become a tokenizer's tokens, and the last block of a checkpoint is trained on them", async (t) => {
  const page = await visit(t, STILL), [config, tensors] = files(checkpoint), vocab = vocabulary();
  const table = file("mails.csv", Buffer.from(mails(400)));
  const bytes = new Map(await Promise.all([config, tensors].map(async (f) => /** @type {const} */ ([f, Buffer.from(await f.arrayBuffer())]))));
  const r = await page.evaluate(async (sent) => {
    const [table, vocab, config, tensors, broken, settings] = sent.map(({ name, base64 }) => new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], name));
    const rejects = async (f) => f().then(() => "it was taken", (e) => e.message);
    const raw = await clipscope.open({ train: [table] }, { label: "answer", columns: { text: "text" } });
    const tokenizer = await clipscope.backbone(vocab);
    const data = await clipscope.features(vocab, raw, { output: "32 tokens" });
    const info = await clipscope.start([tensors, config]);
    const model = info.model, base = { model, expected_batch_size: 64, steps: 120, optimizer: "adam", learning_rate: 0.01 };
    const from = { file: info.file, sha256: info.sha256, public: true };
    const run = async (c) => (await clipscope.train(c, data)).done;
    const plan = await clipscope.plan({ ...base, target_epsilon: 4, start: { ...from, trainable: "last:1" } }, data);
    const free = await run({ ...base, no_privacy: true, noise_multiplier: 0, steps: 250, seed: 1, start: { ...from, trainable: "last:1" } });
    const head = await run({ ...base, steps: 3, target_epsilon: 4, start: { ...from, trainable: "head" } });
    return {
      tokenizer, summary: data.summary, info, plan, free: { ...free, released: null }, head: { ...head, released: null },
      saved: await clipscope.convert(head, "json").then((b) => b.text()),
      parameters: [...head.released.parameters],
      refused: {
        alone: await rejects(() => clipscope.start(tensors)),
        softmax: await rejects(() => clipscope.plan({ model: { kind: "softmax" } }, data)),
        broken: await rejects(() => clipscope.backbone(broken)),
        settings: await rejects(() => clipscope.backbone(settings)),
        output: await rejects(() => clipscope.features(vocab, raw, { output: "33 tokens" })),
        value: await rejects(() => clipscope.plan({ ...base, method: "value", target_epsilon: 4, start: { ...from, trainable: "head" } }, data)),
      },
    };
  }, [table, await sent(vocab), await sent(config), await sent(tensors), await sent(json("tokenizer.json", "{")), await sent(json("tokenizer.json", { tokenizer_class: "BertTokenizer" }))]);

  assert.deepEqual(r.tokenizer.inputs, [{ name: "text", type: "string", shape: [-1], pairs: true }]);
  assert.deepEqual(r.tokenizer.outputs.map((o) => [o.name, o.tokens]), ["", " with types"].flatMap((types) => [64, 32, 128, 256, 512].map((n) => [`${n} tokens${types}`, types ? 54 : 27])));
  const { summary } = r;
  assert.deepEqual([summary.features, summary.outputs, summary.backbone.tokens, summary.backbone.column], [32, 2, 27, "text"]);
  const begin = summary.preview.rows[0].slice(0, 4).map(Number);
  assert.ok(begin[0] === 2 && begin.slice(1).every((id) => id > 4 && id < 27), begin.join()); // [CLS] and words

  const both = Buffer.concat([config, tensors].map((f) => bytes.get(f))), all = Object.values(checkpoint.tensors).reduce((n, x) => n + x.values.length, 0) - 51; // without the head
  assert.deepEqual([r.info.file, r.info.sha256], ["model.safetensors", sha(both)], "the hash is not the files'");
  const layers = r.info.model.layers;
  assert.deepEqual([layers[0], layers.at(-1), layers.length], ["embedding:27:16:t2", "dense", 27]);
  const { trained, parameters } = r.plan;
  assert.equal(parameters, all - (80 - 32) * 16 + 34);
  assert.ok(trained > 34 && r.plan.layers.slice(0, 13).every((l) => !l.parameters || l.frozen) && r.plan.layers.slice(13).every((l) => !l.frozen));
  assert.ok(r.plan.warnings.some((w) => w.note && /The last layer is drawn at random: .*\[16 3\].*takes \[16 2\]/.test(w.message)), JSON.stringify(r.plan.warnings));
  assert.match(r.plan.guarantee, /the last [\d]+ were trained; the first [\d]+ are the file’s/);
  t.diagnostic(`test accuracy ${r.free.test_accuracy} without noise`);
  assert.ok(r.free.test_accuracy > 0.7, `${r.free.test_accuracy} without noise`);

  const { text, start: from } = r.head.statement;
  assert.match(text, new RegExp(`A tokenizer, which was made elsewhere, made a row of the numbers of its tokens \\(it knows 27\\) from the text in its column "text" \\(SHA-256 ${sha(Buffer.from(await vocabulary().arrayBuffer()))}`));
  assert.equal(from.frozen, parameters - 34);
  assert.match(text, new RegExp(`${parameters} parameters, 34 trained`));
  // The saved model has the checkpoint's numbers, and answers as the page's test rows were answered.
  const word = checkpoint.tensors["bert.embeddings.word_embeddings.weight"].values;
  r.parameters.slice(0, word.length).forEach((v, i) => assert.equal(v, Math.fround(word[i])));
  const { outputs } = load(r.saved).predict(Array.from({ length: 32 }, (_, i) => [2, 7, 24, 3][i] ?? -1));
  assert.ok(outputs.length === 2 && Math.abs(outputs[0] + outputs[1] - 1) < 1e-9, `${outputs}`);

  assert.match(r.refused.alone, /config\.json/);
  assert.match(r.refused.softmax, /would take for amounts; choose layers that begin with embedding:27/);
  assert.match(r.refused.broken, /tokenizer\.json is no JSON/);
  assert.match(r.refused.settings, /no tokenizer: choose tokenizer\.json or vocab\.txt/);
  assert.match(r.refused.output, /64 tokens/);
  assert.match(r.refused.value, /^method: .*not trained/);
  assert.deepEqual(page.errors, []);
});

test("pairs of texts, biases and maps of low rank", async (t) => {
  const page = await visit(t, STILL), vocab = vocabulary();
  const r = await page.evaluate(async (sent) => {
    const [table, vocab, config, tensors] = sent.map(({ name, base64 }) => new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], name));
    const rejects = async (f) => f().then(() => "it was taken", (e) => e.message);
    const raw = await clipscope.open({ train: [table] }, { label: "answer", columns: { question: "text", text: "text" } });
    const { model, file, sha256 } = await clipscope.start([tensors, config]);
    const data = await clipscope.features(vocab, raw, { output: "32 tokens with types" });
    const from = { file, sha256, public: true }, base = { model, expected_batch_size: 64, steps: 4, target_epsilon: 4, learning_rate: 0.1 };
    const given = [...(await (await clipscope.train({ ...base, steps: 1, learning_rate: 1e-30, start: { ...from, trainable: "head" } }, data)).done).released.parameters];
    const found = {};
    for (const [name, start] of Object.entries({
      biases: { trainable: "biases" }, lora: { trainable: "lora:4", lora_alpha: 32 }, all: { trainable: "lora:2", lora_alpha: 40, lora_targets: "query, key, value, dense", freeze_a: true },
    })) {
      const config = { ...base, start: { ...from, ...start } };
      const plan = await clipscope.plan(config, data), done = await (await clipscope.train(config, data)).done;
      const tensors = await clipscope.convert(done, "json").then((b) => b.text()).then((s) => JSON.parse(s).apply.layers);
      if (name === "lora") for (const to of ["checkpoint", "peft"]) found[to] = [...new Uint8Array(await (await clipscope.convert(done, to)).arrayBuffer())];
      found[name] = { trained: plan.trained, of: plan.parameters, text: done.statement.text, layers: plan.layers, tensors, parameters: [...done.released.parameters] };
    }
    const { checkpoint: home, peft } = found, saved = await clipscope.train({ ...base, steps: 1, start: { ...from, trainable: "head" } }, data).then((r) => r.done).then((r) => clipscope.convert(r, "json"));
    delete found.checkpoint;
    delete found.peft;
    const given2 = await clipscope.convert(saved, "checkpoint", { files: [config, tensors] }).then((b) => b.size), alone = await rejects(() => clipscope.convert(saved, "checkpoint"));
    const plain = await clipscope.open({ train: [table] }, { label: "answer", columns: { question: "text", text: "text" } });
    const typeless = await clipscope.features(vocab, plain, { output: "32 tokens" });
    const warned = (await clipscope.plan({ ...base, start: { ...from, trainable: "head" } }, typeless)).warnings.map((w) => w.message).join(" ");
    return {
      summary: data.summary, found, given, warned, home, peft, given2, alone,
      refused: {
        types: await rejects(() => clipscope.plan({ ...base, model: { kind: "layers", layers: ["embedding:27:4", "mean", "dense"] } }, data)),
        other: await rejects(() => clipscope.plan({ ...base, model: { kind: "layers", layers: ["embedding:28:4:t2", "mean", "dense"] } }, data)),
        own: await rejects(() => clipscope.plan({ ...base, model: { kind: "layers", layers: ["embedding:54:4", "mean", "dense"] } }, data)),
        rank: await rejects(() => clipscope.plan({ ...base, start: { ...from, trainable: "lora:17" } }, data)),
        target: await rejects(() => clipscope.plan({ ...base, start: { ...from, trainable: "lora:2", lora_targets: "query,pooler" } }, data)),
        alpha: await rejects(() => clipscope.plan({ ...base, start: { ...from, trainable: "lora:2", lora_alpha: -1 } }, data)),
      },
    };
  }, [file("pairs.csv", Buffer.from(mails(200).replace("text,", "question,text,").replaceAll(/^(?!question)/gm, (_, at, s) => at < s.length ? "is it good?," : ""))), await sent(vocab), ...await Promise.all(files(checkpoint).map(sent))]);

  const { backbone, preview } = r.summary, first = preview.rows[0].map(Number);
  assert.deepEqual([backbone.column, backbone.second_column, backbone.tokens, backbone.types], ["question", "text", 54, 2]);
  assert.ok(first.some((v) => v >= 27) && first[0] === 2, first.join());
  assert.match(r.warned, /tells the two texts of a row apart by their tokens’ types, and the features have none/);
  for (const [name, { trained, of, text, tensors, parameters, layers }] of Object.entries(r.found)) {
    assert.equal(parameters.length, of);
    assert.match(text, /the text in its column "question" and the one in "text"/);
    assert.match(text, new RegExp(`Trained were ${trained} parameters: the ${name === "biases" ? "biases of all layers, and all of the head" : "head, and maps of rank"}`));
    const head = tensors.length - 1;
    let at = 0;
    tensors.forEach((l, i) => {
      for (const { name: tensor, shape } of l.tensors ?? []) {
        const n = shape.reduce((a, b) => a * b, 1), moved = parameters.slice(at, at + n).some((v, k) => v !== r.given[at + k]);
        const wanted = i === head || (name === "biases" ? tensor.includes("bias") : tensor === "in_weight" || tensor === "out_weight" && name === "all");
        assert.equal(moved, wanted, `${name}: ${l.layer} ${tensor}`);
        at += n;
      }
    });
    assert.equal(at, of);
    assert.equal(layers.some((l) => l.frozen && l.trained > 0), true);
  }
  // The model goes home as a checkpoint: as large as it came, and the page reads it as one.
  const home = unzip(Buffer.from(r.home));
  assert.deepEqual(Object.keys(home), ["config.json", "model.safetensors"]);
  assert.deepEqual(JSON.parse(home["config.json"].toString()).id2label, { 0: "no", 1: "yes" });
  const { weights } = await convert([new File([new Uint8Array(home["config.json"])], "config.json"), new File([new Uint8Array(home["model.safetensors"])], "model.safetensors")]);
  assert.deepEqual(weights, [0, 1]);
  // And as an adapter, which has the maps that were trained, and the head.
  const adapter = unzip(Buffer.from(r.peft)), described = JSON.parse(adapter["adapter_config.json"].toString());
  assert.deepEqual([Object.keys(adapter), described.r, described.lora_alpha, described.target_modules], [["adapter_config.json", "adapter_model.safetensors"], 4, 32, ["query", "value"]]);
  assert.match(adapter["adapter_model.safetensors"].toString("latin1"), /base_model\.model\.bert\.encoder\.layer\.1\.attention\.self\.value\.lora_B\.weight.*base_model\.model\.classifier\.bias/);
  assert.ok(r.given2 > 1e4 && /give its files/.test(r.alone), `${r.given2}, ${r.alone}`);
  for (const kind of ["types", "other"]) assert.match(r.refused[kind], /^model\.layers: the rows have 27 tokens of 2 types/);
  assert.equal(r.refused.own, "it was taken");
  assert.match(r.refused.rank, /^start\.trainable: a rank of 17 is more than the 16 channels/);
  assert.match(r.refused.target, /"pooler" names no map/);
  assert.match(r.refused.alpha, /an alpha of -1/);
  assert.deepEqual(page.errors, []);
});

test("hostile checkpoints and tokenizers are refused by name, and what reads them reads the next", async (t) => {
  const page = await visit(t, STILL), checkpoints = (await noCheckpoints()).filter(([, list]) => list.length > 1), tokenizers = noTokenizers();
  const slow = json("tokenizer.json", { added_tokens: [], normalizer: null, post_processor: null, decoder: null, model: { type: "WordPiece", unk_token: "a", continuing_subword_prefix: "##", vocab: { a: 0 } }, pre_tokenizer: { type: "Split", pattern: { Regex: "(a+)+$" }, behavior: "Isolated", invert: false } });
  const { refused, stopped, read } = await page.evaluate(async ({ checkpoints, tokenizers, slow, good, table, vocab }) => {
    const unpack = ({ name, base64 }) => new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], name), rejects = (p) => p.then(() => ({ message: "it was taken" }), ({ name, message }) => ({ name, message }));
    const raw = await clipscope.open({ train: [unpack(table)] }, { columns: { text: "text" } }), refused = [];
    for (const list of checkpoints) refused.push(await rejects(clipscope.start(list.map(unpack))));
    for (const f of tokenizers) refused.push(await rejects(clipscope.features(unpack(f), raw, { output: "64 tokens" })));
    // A pattern that takes for ever is not refused; it is called off.
    const long = await clipscope.open({ train: [new File([`text,answer\n${`${"a".repeat(60)}b,x\n${"a".repeat(60)}b,y\n`.repeat(20)}`], "long.csv")] }, { columns: { text: "text" } });
    const stop = new AbortController(), stopped = rejects(clipscope.features(unpack(slow), long, { output: "64 tokens" }, ({ phase }) => { if (phase === "trial") setTimeout(() => stop.abort(), 1000); }, stop.signal));
    const model = await clipscope.start(good.map(unpack)), data = await clipscope.features(unpack(vocab), raw, { output: "64 tokens" });
    return { refused, stopped: await stopped, read: [model.parameters > 0, data.summary.rows > 0] };
  }, { checkpoints: await Promise.all(checkpoints.map(([, list]) => Promise.all(list.map(sent)))), tokenizers: await Promise.all(tokenizers.map(([, f]) => sent(f))), slow: await sent(slow),
    good: await Promise.all(files(checkpoint).map(sent)), table: file("mails.csv", Buffer.from(mails(60))), vocab: await sent(vocabulary()) });
  const all = [...checkpoints, ...tokenizers];
  assert.ok(all.length >= 60 && refused.length === all.length, `${all.length}`);
  all.forEach(([what, , says], i) => {
    assert.equal(refused[i].name, "ClipscopeError", `${what}: ${refused[i].message}`);
    assert.match(refused[i].message, new RegExp(says.source.replace(/\bgot\b/g, "(?:got|found)"), says.flags), what);
    assert.doesNotMatch(refused[i].message, /ended unexpectedly|in a way it should not/, what);
  });
  assert.equal(stopped.name, "AbortError", stopped.message);
  assert.deepEqual(read, [true, true]);
  assert.deepEqual(page.errors, []);
});

test("the same by hand: a table, vocab.txt, and a checkpoint's two files", async (t) => {
  const page = await visit(t, ""), [config, tensors] = files(checkpoint);
  await page.setInputFiles("#files", { name: "mails.csv", mimeType: "text/csv", buffer: Buffer.from(mails(300)) });
  await page.locator("#card-data .card-line", { hasText: "mails.csv" }).waitFor(); // or the card is still to be drawn anew
  await page.locator("#backbone summary").click();
  await page.setInputFiles("#backbone-file", { name: "vocab.txt", mimeType: "text/plain", buffer: Buffer.from(await vocabulary().arrayBuffer()) });
  await page.selectOption("#backbone-output", "32 tokens");
  await page.click("#backbone-make");
  await page.locator("#backbone-used", { hasText: "32 tokens" }).waitFor();
  await page.locator("#card-model .card-head").click();
  await page.locator("#start-from summary").click();
  await page.setInputFiles("#start-file", [await upload(tensors), await upload(config)]);
  await page.locator("#start-used", { hasText: /model\.safetensors/ }).waitFor();
  await eventually(async () => assert.equal(await page.locator("#f-start-trainable").inputValue(), "last:1"));
  await page.locator("#f-start-public").check();
  await eventually(async () => assert.match(await page.locator("#card-model").innerText(), /parameters, [\d,]+ trained/));
  await start(page);
  await page.locator("#result", { hasText: "Training started from the weights in model.safetensors" }).waitFor();
  // On a phone the guarantee, in which a hash stands, is as wide as the screen.
  const size = page.viewportSize();
  await page.setViewportSize({ width: 390, height: 844 });
  await eventually(async () => assert.ok(await page.locator("#result .guarantee").evaluate((e) => e.getBoundingClientRect().right <= innerWidth)));
  await page.setViewportSize(size);
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator("#save-model-checkpoint").click()]);
  assert.equal(download.suggestedFilename(), "clipscope-checkpoint.zip");
  assert.deepEqual(Object.keys(unzip(fs.readFileSync(await download.path()))), ["config.json", "model.safetensors"]);
  const [zip] = await Promise.all([page.waitForEvent("download"), page.locator("#save-model-zip").click()]);
  await used(page, fs.readFileSync(await zip.path()));
  assert.deepEqual(page.errors, []);
});

// used has the model of a run answer texts on the page Use: by the run's own button, after the page was loaded anew, and from its file, without
// and with what reads texts.
async function used(page, zip) {
  const says = async () => {
    await page.locator("#cell-0").fill("the parcel came late again Good");
    await page.locator("#part-row .said .figure").first().waitFor();
    return (await page.locator("#part-row .said").innerText()).trim();
  };
  await page.locator("#use-model").click();
  await page.locator("#about", { hasText: /reads texts by\s*a tokenizer, SHA-256/ }).waitFor();
  const said = await says();
  assert.match(said, /yes|no/);
  await page.setInputFiles("#use-exam", { name: "later.csv", mimeType: "text/csv", buffer: Buffer.from(mails(150)) });
  await page.locator("#exam .counts", { hasText: "150" }).waitFor();
  await page.reload();
  assert.equal(await says(), said, "after the page was loaded anew");
  await page.locator("#close-model").click();
  await page.locator("#none").waitFor();

  await page.reload(); // which has no tokenizer any more
  await ready(page);
  await page.setInputFiles("#use-model", { name: "clipscope-model.zip", mimeType: "application/zip", buffer: zip });
  await page.locator("#part-lack", { hasText: /through a tokenizer, which is not in its file\. Choose the same as in training: the tokenizer .* with the SHA-256 [0-9a-f]{64}\./ }).waitFor();
  const vocab = Buffer.from(await vocabulary().arrayBuffer());
  await page.setInputFiles("#use-lack", { name: "vocab.txt", mimeType: "text/plain", buffer: Buffer.concat([vocab, Buffer.from("\nmore")]) });
  await page.locator("#lack-fault", { hasText: /vocab\.txt: expected the file that the model was trained with/ }).waitFor();
  await page.setInputFiles("#use-lack", { name: "later.csv", mimeType: "text/csv", buffer: Buffer.from(mails(9)) });
  await page.locator("#lack-fault", { hasText: /later\.csv: expected the tokenizer .* Choose the tokenizer first, and a table once/ }).waitFor();
  for (const [width, height] of [[1280, 800], [390, 844]]) {
    await page.setViewportSize({ width, height });
    await eventually(async () => assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `something scrolls sideways at ${width}`));
    await page.screenshot({ path: path.join(results, `use-lack-${width}.png`) });
  }
  await page.setInputFiles("#use-model", { name: "vocab.txt", mimeType: "text/plain", buffer: vocab });
  await page.locator("#part-table").waitFor();
  assert.equal(await says(), said, "from its file");
  await page.locator("#cell-0").fill("?");
  await page.locator("#cell-0-counted", { hasText: "counted as no text" }).waitFor();
  const table = mails(40).replace("text,answer", "text,note");
  await page.setInputFiles("#use-table", { name: "new.csv", mimeType: "text/csv", buffer: Buffer.from(table) });
  await page.locator("#answers .counts", { hasText: "40" }).waitFor();
  await page.locator("#close-model").click();
  await page.locator("#none").waitFor();

  await page.reload();
  await ready(page);
  const model = { name: "clipscope-model.zip", mimeType: "application/zip", buffer: zip };
  await page.setInputFiles("#use-model", [model, { name: "vocab.txt", mimeType: "text/plain", buffer: Buffer.from("[PAD]") }]);
  await page.locator("#lack-fault", { hasText: /vocab\.txt: expected the file that the model was trained with/ }).waitFor();
  const [config, tensors] = await Promise.all(files(checkpoint).map(upload));
  await page.setInputFiles("#use-model", [config, tensors]);
  await page.locator("#model-fault", { hasText: /tensors of another program.* Training starts from them, on the page Train, under Model; from a transformer’s, with its config\.json/ }).waitFor();
  await page.setInputFiles("#use-model", [{ name: "vocab.txt", mimeType: "text/plain", buffer: vocab }, model]);
  assert.equal(await says(), said, "of both files, chosen together");
}

test("a transformer's files in the wrong place are told where they belong", async (t) => {
  const page = await visit(t, ""), [config, tensors] = await Promise.all(files(checkpoint).map(upload)), fault = (/** @type {RegExp} */ hasText) => page.locator(".fault", { hasText }).first().waitFor();
  await page.setInputFiles("#files", config);
  await fault(/found a JSON file.* Of a transformer, tokenizer\.json or vocab\.txt is chosen below/);
  const tokenizer = { name: "vocab.txt", mimeType: "text/plain", buffer: Buffer.from(await vocabulary().arrayBuffer()) };
  await page.setInputFiles("#files", [{ name: "mails.csv", mimeType: "text/csv", buffer: Buffer.from(mails(200)) }, tokenizer]);
  await fault(/Choose mails\.csv by itself here\. Of a transformer, tokenizer\.json/);
  await page.setInputFiles("#files", { name: "mails.csv", mimeType: "text/csv", buffer: Buffer.from(mails(200)) });
  await page.locator("#card-data .card-line", { hasText: "mails.csv" }).waitFor();
  await page.locator("#card-model .card-head").click();
  await page.locator("#start-from summary").click();
  await page.setInputFiles("#start-file", config);
  await fault(/this is the configuration of a transformer.* or, of a transformer, config\.json and its tensors together/);
  await page.setInputFiles("#start-file", tensors);
  await fault(/checkpoint, without its config\.json/);
  await page.setInputFiles("#start-file", [tensors, config]);
  await page.locator("#start-used", { hasText: /model\.safetensors/ }).waitFor();
  await page.locator("#f-start-public").check();
  await fault(/takes tokens, and the rows are texts without: under Data, “Use a backbone \(ONNX\) or a tokenizer”/);
  await page.locator("#run-warned", { hasText: "There is a fault to mend before the run: see Model." }).waitFor();
  await page.locator("#runbar .left", { hasText: "not ready" }).waitFor();
  if (!await page.locator("#backbone > summary").isVisible()) await page.locator("#card-data .card-head").click();
  await page.locator("#backbone > summary").click();
  await page.setInputFiles("#backbone-file", [tensors, config]);
  await fault(/model\.safetensors: expected a model in ONNX’s form, or a tokenizer .*Under Model, “Start from a saved model”/);
  await page.setInputFiles("#backbone-file", tokenizer);
  await page.locator("#backbone-output").waitFor(); // the wrong model is forgotten
  await page.selectOption("#backbone-output", "128 tokens");
  await page.click("#backbone-make");
  await page.locator("#backbone-used", { hasText: "128 tokens" }).waitFor();
  await page.locator("#card-model .card-head").click();
  const places = /it has places for 80 tokens, and rows have 128: have features of at most 80 tokens made/;
  await fault(places);
  await page.fill("#f-model-layers", "embedding:27:8:t2 mean dense");
  await fault(/does not fit this network: .* The network that it is of comes back by “Start from random weights”, and by choosing it again/);
  await page.getByRole("button", { name: "Start from random weights" }).click();
  await page.setInputFiles("#start-file", [tensors, config]);
  await page.locator("#f-start-public").check();
  await fault(places);
  assert.deepEqual(page.errors, []);
});
