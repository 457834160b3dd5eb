// What web/checkpoint.mjs makes of transformers' checkpoints, held against the checkpoints' own numbers and, where shared/reference
// is present, against the outputs that transformers computed.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { convert, restore } from "../checkpoint.mjs";
import { Model } from "../predict.mjs";
import { open } from "../tokenizer.mjs";
import { hasShared, shared } from "./browser.mjs";
import { drawn, files, json, noCheckpoints, noTokenizers, tensorsFile, vocabulary } from "./transformers.mjs";

// made is what convert makes, as one file.
async function made(list) {
  const { size, pieces, weights } = await convert(list), parts = [];
  for await (const piece of pieces) parts.push(Buffer.from(piece));
  const bytes = new Uint8Array(Buffer.concat(parts));
  assert.equal(bytes.length, size);
  return { bytes, weights };
}

// opened reads a file that convert made.
function opened(bytes) {
  const length = Number(new DataView(bytes.buffer).getBigUint64(0, true)), header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length)));
  assert.equal((8 + length) % 8, 0, "numbers begin at no multiple of 8");
  const tensors = {};
  const { __metadata__: { layers }, ...listed } = header;
  for (const [name, { dtype, shape, data_offsets: [from, to] }] of Object.entries(listed)) {
    assert.equal(dtype, "F32");
    tensors[name] = { shape, values: new Float32Array(bytes.buffer.slice(8 + length + from, 8 + length + to)) };
  }
  return { layers: layers.split(" "), tensors };
}

test("each of a checkpoint's numbers has its place in the layers, whatever its type, prefix and file", async () => {
  for (const kind of ["bert", "roberta", "distilbert"]) {
    const c = drawn(kind), { bytes, weights } = await made(files(c));
    assert.deepEqual(weights, [0, 1]);
    const { layers, tensors } = opened(bytes), norm = kind === "roberta" ? "layernorm" : "layernorm:e12", distil = kind === "distilbert";
    const block = ["skip", "attention:2", "add", norm, "skip", "conv1d:6:1", "gelu", "conv1d:4:1", "add", norm];
    assert.deepEqual(layers, [distil ? "embedding:11:4" : "embedding:11:4:t2", "position", norm, ...block, ...block, "first", "dense:4", kind === "distilbert" ? "relu" : "tanh", "dense"]);
    // The second block's attention is layer 14: its weight has the query, the key and the value side by side, each with rows for columns.
    const b = distil ? `${kind}.transformer.layer.1.attention.` : `${kind}.encoder.layer.1.attention.`;
    const maps = distil ? ["q_lin", "k_lin", "v_lin"] : ["self.query", "self.key", "self.value"], at = tensors["layers.14.in_weight"];
    assert.deepEqual(at.shape, [4, 12]);
    maps.forEach((m, k) => { for (let i = 0; i < 4; i++) for (let j = 0; j < 4; j++) assert.equal(at.values[j * 12 + k * 4 + i], c.tensors[`${b}${m}.weight`].values[i * 4 + j]); });
    assert.deepEqual([...tensors["layers.14.in_bias"].values], maps.flatMap((m) => c.tensors[`${b}${m}.bias`].values));
    const up = c.tensors[distil ? `${kind}.transformer.layer.1.ffn.lin1.weight` : `${kind}.encoder.layer.1.intermediate.dense.weight`].values;
    assert.deepEqual(tensors["layers.18.weight"].shape, [1, 1, 4, 6]);
    for (let i = 0; i < 6; i++) for (let j = 0; j < 4; j++) assert.equal(tensors["layers.18.weight"].values[j * 6 + i], up[i * 4 + j]);
    // Positions begin behind that of the padding.
    const skip = kind === "roberta" ? 2 : 0, positions = c.tensors[`${kind}.embeddings.position_embeddings.weight`].values;
    assert.deepEqual(tensors["layers.1.weight"].shape, [9 - skip, 4]);
    tensors["layers.1.weight"].values.forEach((v, i) => assert.equal(v, positions[skip * 4 + i]));
    assert.deepEqual([...tensors["layers.0.types"]?.values ?? []], c.tensors[`${kind}.embeddings.token_type_embeddings.weight`]?.values ?? []);
    assert.equal(Object.values(tensors).reduce((n, t) => n + t.values.length, 0), Object.values(c.tensors).reduce((n, t) => n + t.values.length, 0) - 4 * skip, "a number is missing, or there twice");

    const same = async (what, list) => assert.deepEqual(Buffer.compare(Buffer.from((await made(list)).bytes), Buffer.from(bytes)), 0, `${kind}: ${what}`);
    await same("F16", files(c, "F16"));
    const rounded = structuredClone(c), to = (v) => new Float32Array(new Uint32Array([new Uint32Array(new Float32Array([v]).buffer)[0] & 0xffff0000]).buffer)[0];
    for (const t of Object.values(rounded.tensors)) t.values = t.values.map(to);
    assert.equal(Buffer.compare(Buffer.from((await made(files(c, "BF16"))).bytes), Buffer.from((await made(files(rounded))).bytes)), 0, `${kind}: BF16`);
    const renamed = Object.fromEntries(Object.entries(c.tensors).map(([name, t]) => [name.replace(`${kind}.`, "").replace(/LayerNorm\.weight$/, "LayerNorm.gamma").replace(/LayerNorm\.bias$/, "LayerNorm.beta"), t]));
    await same("without a prefix, gamma and beta", files({ ...c, tensors: renamed }));
    const all = Object.entries(c.tensors), half = all.length / 2;
    await same("in two files, with an index and a tokenizer", [json("tokenizer.json", {}), tensorsFile("model-00002-of-00002.safetensors", Object.fromEntries(all.slice(half))), json("model.safetensors.index.json", {}), tensorsFile("model-00001-of-00002.safetensors", Object.fromEntries(all.slice(0, half))), json("config.json", c.config)]);
    await same("beside tensors of other heads", files({ ...c, tensors: { ...c.tensors, "cls.predictions.bias": { shape: [11], values: Array(11).fill(1) } } }));
  }
});

test("a checkpoint without a head, or without a pooler, gives the layers before it", async () => {
  for (const kind of ["bert", "roberta", "distilbert"]) {
    const bare = opened((await made(files(drawn(kind, { head: 0 })))).bytes);
    assert.deepEqual(bare.layers.slice(-4), ["first", "dense:4", kind === "distilbert" ? "relu" : "tanh", "dense"]);
    assert.equal(bare.tensors["layers.26.weight"], undefined);
    const mean = opened((await made(files(drawn(kind, { head: 0, pooler: false })))).bytes);
    assert.deepEqual(mean.layers.slice(-2), ["mean", "dense"]);
  }
});

// written are the files that restore makes.
async function written(model, list, to) {
  const found = {};
  for (const { name, pieces } of await restore(model, list, to)) {
    const parts = [];
    for await (const piece of pieces) parts.push(Buffer.from(piece));
    found[name] = Buffer.concat(parts);
  }
  return found;
}

// restored reads a checkpoint that restore makes: the configuration, and the tensors with the bytes of each.
async function restored(model, list) {
  const found = await written(model, list);
  return { config: JSON.parse(found["config.json"].toString()), file: new File([new Uint8Array(found["model.safetensors"])], "model.safetensors"), ...tensorsIn(found["model.safetensors"]) };
}

function tensorsIn(b) {
  const at = 8 + Number(b.readBigUInt64LE()), { __metadata__, ...header } = JSON.parse(b.subarray(8, at).toString());
  return { metadata: __metadata__, tensors: Object.fromEntries(Object.entries(header).map(([name, { dtype, shape, data_offsets: [from, to] }]) => [name, { dtype, shape, bytes: b.subarray(at + from, at + to).toString("base64") }])) };
}

test("a model goes home with the names, shapes and types that its checkpoint came with", async () => {
  for (const kind of ["bert", "roberta", "distilbert"]) {
    for (const dtype of ["F32", "F16", "BF16"]) {
      const c = drawn(kind, { number: (i) => (i * 7 % 63 - 31) / 16 }), more = { "cls.predictions.bias": { shape: [11], values: Array(11).fill(1) } }; // few places, as BF16 has
      const came = files({ ...c, tensors: { ...c.tensors, ...more } }, dtype), { bytes } = await made(came), home = await restored(bytes, came);
      assert.deepEqual(home.tensors, tensorsIn(Buffer.from(await came[1].arrayBuffer())).tensors, `${kind}, ${dtype}: what was not trained is not what came`);
      assert.deepEqual(home.metadata, { format: "pt" });
      assert.deepEqual(home.config, { ...c.config, architectures: [{ bert: "Bert", roberta: "Roberta", distilbert: "DistilBert" }[kind] + "ForSequenceClassification"], problem_type: "single_label_classification", id2label: { 0: "LABEL_0", 1: "LABEL_1" }, label2id: { LABEL_0: 0, LABEL_1: 1 } });
      // Every number of ours that moves comes home, to its own place: read again, it is ours.
      const view = new DataView(bytes.buffer), at = 8 + Number(view.getBigUint64(0, true));
      for (let i = at; i < bytes.length; i += 4) view.setFloat32(i, ((i - at) / 4 * 11 % 127 - 63) / 32, true);
      const moved = await restored(bytes, came), again = await made([came[0], moved.file]);
      assert.equal(Buffer.compare(Buffer.from(again.bytes), Buffer.from(bytes)), 0, `${kind}, ${dtype}: a number did not come home`);
      const given = Object.keys(c.tensors);
      assert.deepEqual(Object.keys(moved.tensors), [...given, "cls.predictions.bias"]);
      for (const name of given) assert.deepEqual([moved.tensors[name].shape, moved.tensors[name].dtype], [c.tensors[name].shape, dtype], name);
    }
    // A head for three classes, of a checkpoint that has two or none, and fewer places and tokens than it has.
    for (const head of [2, 0]) {
      const c = drawn(kind, { head }), [config, tensors] = files(c), full = drawn(kind, { head: 3, places: 7 });
      const ours = (await made(files(full))).bytes, home = await restored(ours, [config, tensors]), name = kind === "roberta" ? "classifier.out_proj" : "classifier";
      assert.deepEqual([home.tensors[name + ".weight"].shape, home.tensors[name + ".bias"].shape, home.config.id2label], [[3, 4], [3], { 0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2" }]);
      assert.deepEqual(home.tensors[`${kind}.embeddings.word_embeddings.weight`].shape, [11, 4]);
      const numbers = (t) => [...new Float32Array(new Uint8Array(Buffer.from(t.bytes, "base64")).buffer)];
      assert.deepEqual(numbers(home.tensors[`${kind}.embeddings.word_embeddings.weight`]), full.tensors[`${kind}.embeddings.word_embeddings.weight`].values);
      const skip = kind === "roberta" ? 8 : 0, places = numbers(home.tensors[`${kind}.embeddings.position_embeddings.weight`]), had = c.tensors[`${kind}.embeddings.position_embeddings.weight`].values, came = full.tensors[`${kind}.embeddings.position_embeddings.weight`].values;
      assert.deepEqual(places, [...had.slice(0, skip), ...came.slice(skip), ...had.slice(28)]);
      assert.deepEqual(numbers(home.tensors[name + ".weight"]), full.tensors[name + ".weight"].values);
    }
    // One that was saved without a head, and so without a prefix, gets one; one with other tokens is another.
    const whole = drawn(kind, { head: 0 }), plain = Object.fromEntries(Object.entries(whole.tensors).map(([name, t]) => [name.replace(`${kind}.`, ""), t])), named = files(whole), unnamed = files({ ...whole, tensors: plain });
    const answers = (await made(files(drawn(kind)))).bytes;
    assert.deepEqual(Object.keys((await restored(answers, unnamed)).tensors), Object.keys((await restored(answers, named)).tensors));
    await assert.rejects(restore(answers, files(drawn(kind, { vocabulary: 40 }))), /was trained from this checkpoint, got layers\.0\.weight of shape/);
    const bare = files(drawn(kind, { head: 0, pooler: false }));
    await assert.rejects(made(bare).then(({ bytes }) => restore(bytes, bare)), /expected a checkpoint with a pooler/);
    await assert.rejects(made(files(drawn(kind, { d: 8, wide: 6 }))).then(({ bytes }) => restore(bytes, files(drawn(kind)))), /was trained from this checkpoint, got layers\.0\.weight of shape/);
  }
  const large = files(drawn("bert"), "F16"), { bytes } = await made(large);
  new DataView(bytes.buffer).setFloat32(bytes.length - 4, 7e4, true);
  await assert.rejects(restored(bytes, large), /numbers of classifier\.bias that F16 has/);
  for (const x of [NaN, 3.4e38]) {
    new DataView(bytes.buffer).setFloat32(bytes.length - 4, x, true);
    await assert.rejects(restored(bytes, files(drawn("bert"), "BF16")), /numbers of classifier\.bias that BF16 has/);
  }
});

// learned is a safetensors file of ours with other tensors and a configuration.
function learned(bytes, config, change) {
  const at = 8 + Number(new DataView(bytes.buffer).getBigUint64(0, true)), { __metadata__, ...header } = JSON.parse(new TextDecoder().decode(bytes.subarray(8, at)));
  const numbers = new Float32Array(bytes.slice(at).buffer);
  for (const [name, { shape, data_offsets: [from, to] }] of Object.entries(header)) change(name, shape, numbers.subarray(from / 4, to / 4));
  const head = Buffer.from(JSON.stringify({ __metadata__: { ...__metadata__, config: JSON.stringify(config) }, ...header })), size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(head.length));
  return new Uint8Array(Buffer.concat([size, head, Buffer.from(numbers.buffer)]));
}

const floats = ({ bytes }) => new Float32Array(new Uint8Array(Buffer.from(bytes, "base64")).buffer);

test("maps of low rank go home as PEFT's adapter: the checkpoint and it make what was trained", async () => {
  let seed = 1;
  const draw = () => (seed = seed * 48271 % 2147483647) / 2147483647 - 0.5, d = 8;
  const names = { bert: ["query", "key", "value", "attention.output.dense"], roberta: ["query", "key", "value", "attention.output.dense"], distilbert: ["q_lin", "k_lin", "v_lin", "out_lin"] };
  for (const kind of ["bert", "roberta", "distilbert"]) {
    for (const [rank, alpha, targets] of /** @type {[number, number, string][]} */ ([[1, 0, ""], [2, 7, "value"], [3, 0.5, "dense, key"], [2, 0, "query,key,value,dense"]])) {
      for (const dtype of ["F32", "F16"]) {
        const c = drawn(kind, { d, wide: 6, places: 9 }), list = files(c, dtype), asked = (targets || "query,value").split(/, ?/);
        const { bytes } = await made(list), config = { start: { trainable: `lora:${rank}`, lora_alpha: alpha, ...targets && { lora_targets: targets } } };
        // All that the layers have, and maps of this rank beside those that are named, each some columns.
        const moved = learned(bytes, config, (name, [, wide], v) => {
          const beside = name.endsWith("in_weight") ? ["query", "key", "value"] : name.endsWith("out_weight") ? ["dense"] : [];
          beside.forEach((target, k) => {
            if (!asked.includes(target)) return;
            for (let r = 0; r < rank; r++) {
              const a = Array.from({ length: d }, draw), b = Array.from({ length: d }, draw);
              for (let i = 0; i < d; i++) for (let j = 0; j < d; j++) v[i * wide + k * d + j] += a[i] * b[j];
            }
          });
          if (name === "layers.26.weight") v.forEach((_, i) => { v[i] = draw(); });
        });
        const found = await written(moved, list, "peft"), described = JSON.parse(found["adapter_config.json"].toString()), { tensors } = tensorsIn(found["adapter_model.safetensors"]);
        assert.deepEqual(Object.keys(found), ["adapter_config.json", "adapter_model.safetensors"]);
        assert.deepEqual([described.peft_type, described.task_type, described.r, described.lora_alpha, described.target_modules.toSorted()], ["LORA", "SEQ_CLS", rank, alpha || 2 * rank, asked.map((t) => names[kind][["query", "key", "value", "dense"].indexOf(t)]).toSorted()]);
        const want = (await restored(moved, files(c))).tensors, seen = new Set();
        for (const [name, t] of Object.entries(want)) {
          const a = tensors[`base_model.model.${name.replace("weight", "lora_A.weight")}`], b = tensors[`base_model.model.${name.replace("weight", "lora_B.weight")}`], whole = tensors[`base_model.model.${name}`];
          if (whole) {
            assert.deepEqual(whole, t, name);
            seen.add(`base_model.model.${name}`);
            continue;
          }
          const now = floats(t), was = Float32Array.from(c.tensors[name].values);
          if (a) {
            assert.deepEqual([a.shape, b.shape, a.dtype, b.dtype], [[rank, d], [d, rank], "F32", "F32"], name);
            const left = floats(a), right = floats(b), scale = described.lora_alpha / described.r;
            for (let o = 0; o < d; o++) for (let i = 0; i < d; i++) for (let r = 0; r < rank; r++) was[o * d + i] += scale * right[o * rank + r] * left[r * d + i];
            for (const s of ["A", "B"]) seen.add(`base_model.model.${name.replace("weight", `lora_${s}.weight`)}`);
          }
          now.forEach((v, i) => assert.ok(Math.abs(v - was[i]) <= (a ? 1e-5 : 0), `${kind}, ${rank}, ${name}: ${was[i]}, want ${v}`));
        }
        assert.deepEqual([...seen].toSorted(), Object.keys(tensors).toSorted(), "a tensor belongs to none of the checkpoint's");
        assert.equal([...seen].filter((s) => s.includes("lora_A")).length, 2 * asked.length);
        assert.deepEqual([...seen].filter((s) => !s.includes("lora_")).map((s) => s.slice(17)).toSorted(), (kind === "roberta" ? ["classifier.dense.bias", "classifier.dense.weight", "classifier.out_proj.bias", "classifier.out_proj.weight"] : ["classifier.bias", "classifier.weight"]));
      }
    }
  }
  // Where nothing moved all are 0. What is no such model is refused by what is wrong.
  const list = files(drawn("bert")), { bytes } = await made(list), low = { start: { trainable: "lora:1" } }, still = await written(learned(bytes, low, () => {}), list, "peft");
  for (const [name, t] of Object.entries(tensorsIn(still["adapter_model.safetensors"]).tensors)) if (name.includes("lora_")) assert.ok(floats(t).every((v) => v === 0), name);
  /** @type {[any, (name: string, shape: number[], v: Float32Array) => void, RegExp][]} */
  const refused = [
    [{ start: { trainable: "last:1" } }, () => {}, /lora:R, R from 1 to 4.*got last:1/],
    [{}, () => {}, /lora:R, R from 1 to 4.*got all/],
    [low, (name, _, v) => { if (name.endsWith("in_weight")) { v[0] += 1; v[13] += 1; } }, /query\.weight is another by more than a map of rank 1/],
    [{ start: { trainable: "lora:5" } }, () => {}, /R from 1 to 4.*got lora:5/],
    [{ start: { trainable: "lora:999999999999" } }, () => {}, /R from 1 to 4/],
    [{ start: { trainable: "lora:1", lora_alpha: -1 } }, () => {}, /alpha -1/],
    [{ start: { trainable: "lora:1", lora_targets: "foo" } }, () => {}, /foo/],
    [low, (name, shape, v) => { if (name.endsWith("in_weight")) for (let i = 0; i < 4; i++) v[i * shape[1] + i] *= 1 + 3e-5; }, /query\.weight is another/],
    [low, (name, _, v) => { if (name.endsWith("in_weight")) v[0] = NaN; }, /query\.weight is another/],
    [low, (name, _, v) => { if (name.endsWith("out_weight")) v[5] += 1; }, /other numbers in encoder\.layer\.0\.attention\.output\.dense\.weight/],
    [low, (name, _, v) => { if (name === "layers.0.weight") v[5] += 1; }, /other numbers in embeddings\.word_embeddings\.weight/],
  ];
  for (const [config, change, says] of refused) await assert.rejects(written(learned(bytes, config, change), list, "peft"), says);
});

test("an adapter has the names and shapes that PEFT gives it", { skip: !hasShared("reference/transformers/bert-lora/adapter_model.safetensors") && "shared/reference is not present" }, async () => {
  const at = path.join(shared, "reference/transformers"), list = ["config.json", "model.safetensors"].map((name) => new File([fs.readFileSync(path.join(at, "bert", name))], name));
  const theirs = tensorsIn(fs.readFileSync(path.join(at, "bert-lora/adapter_model.safetensors"))), { lora_alpha, r, ...config } = JSON.parse(fs.readFileSync(path.join(at, "bert-lora/adapter_config.json"), "utf8"));
  const products = (tensors, name) => {
    const a = tensors[name], b = tensors[name.replace("lora_A", "lora_B")], left = floats(a), right = floats(b), out = b.shape[0], [rank, inputs] = a.shape;
    return Array.from({ length: out * inputs }, (_, i) => Array.from({ length: rank }, (_, k) => lora_alpha / r * right[Math.floor(i / inputs) * rank + k] * left[k * inputs + i % inputs]).reduce((x, y) => x + y));
  };
  let block = 0;
  const bytes = learned((await made(list)).bytes, { start: { trainable: `lora:${r}`, lora_alpha } }, (name, [d, wide], v) => {
    if (!name.endsWith("in_weight")) return;
    for (const [k, map] of /** @type {const} */ ([[0, "query"], [2, "value"]])) products(theirs.tensors, `base_model.model.bert.encoder.layer.${block}.attention.self.${map}.lora_A.weight`).forEach((x, i) => { v[i % d * wide + k * d + Math.floor(i / d)] += x; });
    block++;
  });
  const found = await written(bytes, list, "peft"), ours = tensorsIn(found["adapter_model.safetensors"]), described = JSON.parse(found["adapter_config.json"].toString());
  assert.equal(block, 3);
  assert.deepEqual(ours.metadata, theirs.metadata);
  const shapes = ({ tensors }) => Object.entries(tensors).map(([name, { dtype, shape }]) => [name, dtype, shape.join()].join(" ")).toSorted();
  assert.deepEqual(shapes(ours), shapes(theirs));
  for (const name of Object.keys(ours.tensors).filter((n) => n.includes("lora_A"))) {
    const want = products(theirs.tensors, name);
    products(ours.tensors, name).forEach((v, i) => assert.ok(Math.abs(v - want[i]) <= 1e-6, `${name}: ${v}, want ${want[i]}`));
  }
  for (const [name, value] of Object.entries(described)) assert.deepEqual(Array.isArray(value) ? value.toSorted() : value, name === "r" ? r : name === "lora_alpha" ? lora_alpha : name === "base_model_name_or_path" ? null : Array.isArray(config[name]) ? config[name].toSorted() : config[name], name);
});

test("what is no checkpoint, or none that layers can be, is refused by what is wrong", async () => {
  for (const [what, list, says] of await noCheckpoints()) {
    await assert.rejects(convert(list), (/** @type {any} */ e) => {
      assert.match(e.message, says, what);
      assert.ok(e.expected && e.got && e.fix, `${what}: ${e.message}`);
      return true;
    }, what);
  }
});

test("converted checkpoints answer as transformers does", { skip: !hasShared("reference/transformers/expected.json") && "shared/reference is not present" }, async () => {
  const at = path.join(shared, "reference/transformers"), { models } = JSON.parse(fs.readFileSync(path.join(at, "expected.json"), "utf8"));
  for (const kind of ["bert", "roberta", "distilbert"]) {
    const { layers, tensors } = opened((await made(["config.json", "model.safetensors"].map((name) => new File([fs.readFileSync(path.join(at, kind, name))], name)))).bytes);
    let rows = 0;
    for (const r of models[kind].rows) {
      const want = new Float64Array(new Uint8Array(Buffer.from(r.logits, "base64")).buffer), places = r.ids.length + 2, parameters = [];
      const list = layers.map((layer, i) => {
        let count = 0;
        for (const [name, t] of Object.entries(tensors)) {
          if (!name.startsWith(`layers.${i}.`)) continue;
          const values = layer === "position" ? t.values.subarray(0, places * t.shape[1]) : t.values;
          parameters.push(...values);
          count += values.length;
        }
        return { layer, shape: layer.startsWith("dense") ? tensors[`layers.${i}.bias`].shape : [], parameters: count };
      });
      const model = new Model({ task: "regression", outputs: want.length, features: places, scaling: { kind: "none" }, layers: list }, Float32Array.from(parameters));
      const { outputs } = model.predict([...r.ids.map((id, k) => id + (kind === "bert" ? r.type_ids[k] * tensors["layers.0.weight"].shape[0] : 0)), -1, -1]);
      outputs.forEach((v, k) => assert.ok(Math.abs(v - want[k]) <= 1e-5, `${kind}, ${JSON.stringify(r.text)}: ${v}, want ${want[k]}`));
      rows++;
    }
    assert.equal(rows, 15);
  }
});

const ids = (tokenizer, text, places) => [...tokenizer.run([text], `${places} tokens`).values];

test("a vocabulary of BERT's kind makes tokens of texts; longer ones are cut, and keep their last", async () => {
  const tokenizer = await open(vocabulary()), at = (...words) => words.map((w) => ({ "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, the: 5, good: 23, "##s": 25, never: 18, "Ä": 26 })[w] ?? -1);
  assert.deepEqual(tokenizer.outputs.map((o) => [o.name, o.shape, o.tokens, o.types]), ["", " with types"].flatMap((types) => [64, 32, 128, 256, 512].map((n) => [`${n} tokens${types}`, [-1, n], types ? 54 : 27, types ? 2 : undefined])));
  for (const [text, want] of [
    ["", ["[CLS]", "[SEP]"]],
    ["the goods", ["[CLS]", "the", "good", "##s", "[SEP]"]],
    ["The  NEVER\n", ["[CLS]", "[UNK]", "[UNK]", "[SEP]"]], // "Ä" is a word with a capital, so capitals are kept
    ["Ä", ["[CLS]", "Ä", "[SEP]"]],
    ["[SEP] 北 \u{1f600} \u0000", ["[CLS]", "[SEP]", "[UNK]", "[UNK]", "[SEP]"]],
    ["x".repeat(1e5), ["[CLS]", "[UNK]", "[SEP]"]],
  ]) assert.deepEqual(ids(tokenizer, text, 32), [...at(...want), ...Array(32 - want.length).fill(-1)], JSON.stringify(text));
  assert.deepEqual(ids(tokenizer, "the ".repeat(40), 32), [2, ...Array(30).fill(5), 3]);
  const two = tokenizer.run(["the", "good good"], "64 tokens");
  assert.deepEqual([two.shape, two.values.length, [...two.values.subarray(64, 69)]], [[2, 64], 128, [2, 23, 23, 3, -1]]);
  // Of two texts that are too long, the last of the longer is left out first.
  const pair = (a, b, output) => [...tokenizer.run([a, b], output, true).values];
  assert.deepEqual(pair("the", "", "32 tokens with types").slice(0, 5), [2, 5, 3, 3 + 27, -1]);
  assert.deepEqual(pair("", "the", "32 tokens").slice(0, 5), [2, 3, 5, 3, -1]);
  assert.deepEqual(pair("the ".repeat(40), "good never", "32 tokens with types"), [2, ...Array(27).fill(5), 3, 23 + 27, 18 + 27, 3 + 27]);
  assert.deepEqual(pair("the ".repeat(40), "good ".repeat(50), "32 tokens"), [2, ...Array(15).fill(5), 3, ...Array(14).fill(23), 3]);
  assert.deepEqual(tokenizer.run(["the", "good", "", ""], "32 tokens", true).shape, [2, 32]);
  const small = await open(new File(["[UNK]\n[CLS]\n[SEP]\nthe\r\n##s\n\n"], "vocab.txt"));
  assert.deepEqual(ids(small, "THE thes", 32).slice(0, 6), [1, 3, 3, 4, 2, -1]);
  // One that has no number for what it does not know says so, and makes none up.
  const bare = await open(json("tokenizer.json", { added_tokens: [], normalizer: null, pre_tokenizer: { type: "BertPreTokenizer" }, post_processor: null, decoder: null, model: { type: "WordPiece", unk_token: "[UNK]", continuing_subword_prefix: "##", max_input_chars_per_word: 100, vocab: { the: 1 } } }));
  assert.deepEqual(ids(bare, "the", 32).slice(0, 2), [1, -1]);
  assert.throws(() => ids(bare, "the parcel", 32), /gives undefined for the number of a token/);
});

test("what is no tokenizer is refused by what is wrong", async () => {
  for (const [what, f, says] of noTokenizers()) await assert.rejects(open(f), (/** @type {any} */ e) => { assert.match(e.message, says, what); return true; }, what);
});

test("tokenizers give the tokens that transformers gives", { skip: !hasShared("reference/transformers/expected.json") && "shared/reference is not present" }, async () => {
  const at = path.join(shared, "reference/transformers"), { models } = JSON.parse(fs.readFileSync(path.join(at, "expected.json"), "utf8"));
  for (const kind of ["bert", "roberta", "distilbert"]) {
    const text = fs.readFileSync(path.join(at, kind, "tokenizer.json"), "utf8"), words = JSON.parse(text).model.vocab, lines = [];
    for (const [word, id] of Object.entries(words)) lines[id] = word;
    const forms = [await open(new File([text], "tokenizer.json"))];
    if (kind !== "roberta") forms.push(await open(new File([lines.join("\n")], "vocab.txt")));
    const singles = models[kind].rows.filter((r) => r.pair === null);
    assert.equal(singles.length, 12);
    for (const r of singles) for (const f of forms) assert.deepEqual(ids(f, r.text, 64), [...r.ids, ...Array(64 - r.ids.length).fill(-1)], `${kind}: ${JSON.stringify(r.text)}`);
    const pairs = models[kind].rows.filter((r) => r.pair !== null), typed = kind !== "roberta";
    assert.equal(pairs.length, 3);
    for (const r of pairs) {
      for (const f of forms) {
        const rest = Array(64 - r.ids.length).fill(-1), of = (output) => [...f.run([r.text, r.pair], output, true).values];
        assert.deepEqual(of("64 tokens"), [...r.ids, ...rest], `${kind}: ${JSON.stringify([r.text, r.pair])}`);
        assert.equal(f.outputs.some((o) => o.types === 2), typed);
        if (typed) assert.deepEqual(of("64 tokens with types"), [...r.ids.map((id, k) => id + f.outputs[0].tokens * r.type_ids[k]), ...rest], `${kind}: types of ${JSON.stringify([r.text, r.pair])}`);
      }
    }
  }
});
