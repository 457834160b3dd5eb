// Makes a checkpoint of a transformer, as Hugging Face's libraries save it, a file that runs start from, in the trainer's
// worker:
//
//	const { size, pieces, weights } = await convert([config, tensors, …]); // config.json and model.safetensors
//
// pieces are, one after the other, a safetensors file of so many bytes with the names that core/model gives to tensors of layers, and the
// layers in its metadata; weights are the numbers, among the files given, of those that it is made of, in the order of their names. Layers and names are in kinds.
// Tensors are read one by one, as they are asked for, so that beside what is made of them there is no more than one.
//
//	for (const { name, pieces } of await restore(model, [config, tensors, …])) for await (const bytes of pieces) …
//
// is the way back: the checkpoint's files with the numbers of a model that was trained from it, by the names and in the types
// that they came with. restore(model, files, "peft") has an adapter of a model whose maps of low rank were trained (LoRA), as
// PEFT saves it.

// Fault says what is wrong with a checkpoint, and what to do.
class Fault extends Error {
  /** @param {string} expected @param {string} got @param {string} fix */
  constructor(expected, got, fix) {
    super(`expected ${expected}, got ${got}. ${fix}`);
    Object.assign(this, { expected, got, fix });
  }
}

// Limits of what is read: a configuration has some kilobytes, and a header some hundred bytes for each tensor.
const CONFIG = 1 << 20, HEADER = 1 << 24, PARAMETERS = 2 ** 27;

/** @typedef {{ given: string, file: File, at: number, size: number, dtype: string, shape: number[] }} Tensor of so many bytes */
/** @typedef {{ map: (parts: Float32Array[]) => Float32Array, back: (ours: Float32Array, part: number) => Float32Array, skip?: number }} Way how numbers become ours, and how ours become those of a part, from one of them on */
/** @typedef {{ name: string, shape: number[], from: string[], way?: Way }} Wanted a tensor of ours, and the checkpoint's that it is made of */

// bytes of each type of numbers.
const BYTES = /** @type {Record<string, number>} */ ({ F32: 4, F16: 2, BF16: 2 });

// kinds names the parts of each kind of model.
const bert = {
  embeddings: "embeddings.", block: "encoder.layer.", prefix: "bert.",
  maps: ["attention.self.query", "attention.self.key", "attention.self.value"], out: "attention.output.dense", norm: "attention.output.LayerNorm",
  up: "intermediate.dense", down: "output.dense", last: "output.LayerNorm", pooler: "pooler.dense", bend: "tanh", head: "classifier",
  hidden: "hidden_size", wide: "intermediate_size", heads: "num_attention_heads", layers: "num_hidden_layers", act: "hidden_act", offset: false,
};
/** @type {Record<string, typeof bert>} */
const kinds = {
  bert,
  roberta: { ...bert, prefix: "roberta.", pooler: "classifier.dense", head: "classifier.out_proj", offset: true },
  distilbert: {
    ...bert, prefix: "distilbert.", block: "transformer.layer.", maps: ["attention.q_lin", "attention.k_lin", "attention.v_lin"], out: "attention.out_lin", norm: "sa_layer_norm",
    up: "ffn.lin1", down: "ffn.lin2", last: "output_layer_norm", pooler: "pre_classifier", bend: "relu",
    hidden: "dim", wide: "hidden_dim", heads: "n_heads", layers: "n_layers", act: "activation",
  },
};
kinds["xlm-roberta"] = kinds.camembert = kinds.roberta;

// convert makes one file of a checkpoint's.
/** @param {File[]} files */
export async function convert(files) {
  const { chosen, weights, layers, wanted, tensors } = await opened(files);
  const of = [...weights, files.indexOf(chosen)].sort((a, b) => files[a].name < files[b].name ? -1 : 1);
  const { head, size } = headed({ layers: layers.join(" ") }, wanted.map(({ name, shape }) => [name, "F32", shape, 4 * sizeOf(shape)]));
  return { size: head.length + size, pieces: converted(head, wanted, tensors), weights: of };
}

// opened reads all of a checkpoint but its numbers.
/** @param {File[]} files */
async function opened(files) {
  const chosen = configFile(files), config = await configOf(chosen), weights = files.flatMap((f, i) => f.name.toLowerCase().endsWith(".safetensors") ? [i] : []);
  if (weights.length === 0) throw new Fault("model.safetensors beside config.json", among(files), "Choose both files of the checkpoint together.");
  const { kind, sizes } = read(config), tensors = await tensorsOf(weights.map((i) => files[i]), kind);
  return { chosen, config, weights, kind, tensors, ...listed(kind, sizes, tensors) };
}

// configFile is that of the configuration.
/** @param {File[]} files */
function configFile(files) {
  const named = files.filter((f) => f.name.toLowerCase().endsWith(".json"));
  const file = named.find((f) => f.name.toLowerCase() === "config.json") ?? (named.length === 1 ? named[0] : undefined);
  if (!file) throw new Fault("config.json beside model.safetensors", among(files), "Choose both files of the checkpoint together.");
  return file;
}

// configOf reads the configuration.
/** @param {File} file @returns {Promise<Record<string, any>>} */
async function configOf(file) {
  if (file.size > CONFIG) throw new Fault("a configuration of at most 1 MB", `${file.name} with ${file.size} bytes`, "Choose the config.json of the checkpoint.");
  let config;
  try {
    config = JSON.parse(await file.text());
  } catch (e) {
    throw new Fault("a configuration in JSON", `${file.name}, which is none (${short(e?.message)})`, "Choose the config.json of the checkpoint.");
  }
  if (typeof config?.model_type !== "string") throw new Fault("a configuration with a model_type", `${file.name} without one`, "Choose the config.json of the checkpoint.");
  return config;
}

/** @param {number[]} shape */
const sizeOf = (shape) => shape.reduce((a, b) => a * b, 1);

/** @param {File[]} files */
const among = (files) => short(files.map((f) => f.name).join(", ") || "no files");

/** @param {unknown} text */
const short = (text) => String(text).slice(0, 100);

// read takes from a configuration what layers follow from, and refuses what they cannot be.
/** @param {Record<string, any>} config */
function read(config) {
  const known = Object.keys(kinds).join(", ");
  const kind = Object.hasOwn(kinds, config.model_type) ? kinds[config.model_type] : undefined;
  if (!kind) throw new Fault(`a model of a known kind (${known})`, short(config.model_type), "Export others to ONNX, and make features of the texts with them.");
  const refuse = (/** @type {string} */ what, /** @type {unknown} */ value) => { throw new Fault(what, typeof value === "object" ? "a list or an object" : short(JSON.stringify(value)), "Export this model to ONNX, and make features of the texts with it."); };
  const act = config[kind.act] ?? "gelu", places = config.position_embedding_type ?? "absolute";
  if (act !== "gelu" && act !== "relu") refuse(`the activation gelu or relu (${kind.act})`, act);
  if (places !== "absolute" || config.sinusoidal_pos_embds === true && config.model_type !== "distilbert") refuse("absolute positions", places);
  if (config.is_decoder || config.add_cross_attention) refuse("an encoder", "a decoder");
  const number = (/** @type {string} */ key, most = 1 << 16) => Number.isInteger(config[key]) && config[key] >= 1 && config[key] <= most ? config[key] : refuse(`${key}, a whole number from 1 to ${most}`, config[key]);
  const sizes = { tokens: number("vocab_size", 1 << 24), places: number("max_position_embeddings"), hidden: number(kind.hidden), wide: number(kind.wide), heads: number(kind.heads), layers: number(kind.layers, 100) };
  if (sizes.hidden % sizes.heads !== 0) refuse(`${kind.heads} that divide ${kind.hidden}`, sizes.heads);
  // DistilBERT has its own, whatever is written.
  const epsilon = kind === kinds.distilbert ? 1e-12 : config.layer_norm_eps ?? 1e-12, decimals = typeof epsilon === "number" ? -Math.log10(epsilon) : NaN;
  if (!(Math.abs(decimals - Math.round(decimals)) < 1e-9 && decimals >= 1 && decimals <= 20)) refuse("a layer_norm_eps that is a power of ten", epsilon);
  const pad = kind.offset ? config.pad_token_id ?? 1 : 0;
  if (!Number.isInteger(pad) || pad < 0 || pad >= sizes.places - 1) refuse("a pad_token_id below max_position_embeddings", pad);
  return { kind, sizes: { ...sizes, act, offset: kind.offset ? pad + 1 : 0, norm: Math.round(decimals) === 5 ? "layernorm" : `layernorm:e${Math.round(decimals)}` } };
}

// tensorsOf reads the headers of files, and names tensors as a model without prefixes does.
/** @param {File[]} files @param {typeof bert} kind */
async function tensorsOf(files, kind) {
  /** @type {Map<string, Tensor>} */
  const all = new Map();
  for (const file of files) {
    const damaged = (/** @type {string} */ got) => new Fault("a whole safetensors file", `${file.name}: ${got}`, "Fetch the file again: it is cut short or damaged.");
    if (file.size < 10) throw damaged(`${file.size} bytes`);
    const size = Number(new DataView(await file.slice(0, 8).arrayBuffer()).getBigUint64(0, true));
    if (size > HEADER || size > file.size - 8) throw damaged(`a header of ${size} bytes`);
    let header;
    try {
      header = JSON.parse(await file.slice(8, 8 + size).text());
    } catch {
      throw damaged("a header that is no JSON");
    }
    if (typeof header !== "object" || header === null || Array.isArray(header)) throw damaged("a header that is no object");
    for (const [given, t] of Object.entries(header)) {
      if (given === "__metadata__") continue;
      const name = plain(given, kind), offsets = t?.data_offsets;
      const whole = (/** @type {unknown} */ list) => Array.isArray(list) && list.every((n) => Number.isSafeInteger(n) && n >= 0);
      if (!whole(t?.shape) || !whole(offsets) || offsets.length !== 2 || offsets[0] > offsets[1] || offsets[1] > file.size - 8 - size) throw damaged(`a tensor ${short(given)} whose place is not in the file`);
      const count = sizeOf(t.shape), dtype = typeof t.dtype === "string" ? t.dtype : "";
      if (Object.hasOwn(BYTES, dtype) && count * BYTES[dtype] !== offsets[1] - offsets[0]) throw damaged(`a tensor ${short(given)} of shape [${short(t.shape)}] and ${offsets[1] - offsets[0]} bytes`);
      if (all.has(name)) throw new Fault("each tensor once", `${short(given)} twice`, "Choose the files of one checkpoint alone.");
      all.set(name, { given, file, at: 8 + size + offsets[0], size: offsets[1] - offsets[0], dtype, shape: t.shape });
    }
  }
  return all;
}

// plain is a tensor's name without the model's prefix, in today's words.
/** @param {string} name @param {typeof bert} kind */
const plain = (name, kind) => (name.startsWith(kind.prefix) ? name.slice(kind.prefix.length) : name).replace(/\.gamma$/, ".weight").replace(/\.beta$/, ".bias");

// listed returns the layers, and what their tensors are made of.
/** @param {typeof bert} kind @param {ReturnType<typeof read>["sizes"]} s @param {Map<string, Tensor>} tensors */
function listed(kind, s, tensors) {
  /** @type {string[]} */
  const layers = [];
  /** @type {Wanted[]} */
  const wanted = [];
  const own = (/** @type {string} */ name) => `layers.${layers.length}.${name}`;
  const has = (/** @type {string} */ name) => tensors.has(name + ".weight");
  // take wants the tensors of a layer, and lists it.
  const take = (/** @type {string} */ layer, /** @type {Omit<Wanted, "name">[]} */ ...parts) => {
    wanted.push(...parts.map((p, i) => ({ ...p, name: own(["weight", "bias"][i]) })));
    layers.push(layer);
  };
  const linear = (/** @type {string} */ layer, /** @type {string} */ name, /** @type {number} */ rows, /** @type {number} */ out, /** @type {number[]} */ before = []) =>
    take(layer, { shape: [...before, rows, out], from: [name + ".weight"], way: across(out, rows) }, { shape: [out], from: [name + ".bias"] });
  const norm = (/** @type {string} */ name) => take(s.norm, { shape: [s.hidden], from: [name + ".weight"] }, { shape: [s.hidden], from: [name + ".bias"] });

  const at = kind.embeddings, d = s.hidden, of = at + "token_type_embeddings.weight", types = tensors.get(of)?.shape[0] ?? 0;
  wanted.push({ name: own("weight"), shape: [s.tokens, d], from: [at + "word_embeddings.weight"] });
  if (types > 0) wanted.push({ name: own("types"), shape: [types, d], from: [of] });
  layers.push(`embedding:${s.tokens}:${d}${types > 0 ? `:t${types}` : ""}`);
  take("position", { shape: [s.places - s.offset, d], from: [at + "position_embeddings.weight"], way: { map: ([p]) => p.subarray(s.offset * d), back: (v) => v, skip: s.offset * d } });
  norm(at + "LayerNorm");
  for (let i = 0; i < s.layers; i++) {
    const block = `${kind.block}${i}.`;
    layers.push("skip");
    const maps = (/** @type {string} */ part) => kind.maps.map((m) => `${block}${m}.${part}`);
    wanted.push(
      { name: own("in_weight"), shape: [d, 3 * d], from: maps("weight"), way: { map: (parts) => beside(parts, d), back: (v, k) => apart(v, 3, k, d) } },
      { name: own("in_bias"), shape: [3 * d], from: maps("bias"), way: { map: joined, back: (v, k) => v.subarray(k * d, (k + 1) * d) } },
      { name: own("out_weight"), shape: [d, d], from: [`${block}${kind.out}.weight`], way: across(d, d) },
      { name: own("out_bias"), shape: [d], from: [`${block}${kind.out}.bias`] });
    layers.push(`attention:${s.heads}`, "add");
    norm(block + kind.norm);
    layers.push("skip");
    linear(`conv1d:${s.wide}:1`, block + kind.up, d, s.wide, [1, 1]);
    layers.push(s.act);
    linear(`conv1d:${d}:1`, block + kind.down, s.wide, d, [1, 1]);
    layers.push("add");
    norm(block + kind.last);
  }
  if (has(kind.pooler)) {
    layers.push("first");
    linear(`dense:${d}`, kind.pooler, d, d);
    layers.push(kind.bend);
  } else layers.push("mean"); // nothing was trained to stand for the whole
  const classes = tensors.get(kind.head + ".weight")?.shape;
  if (classes?.length === 2 && has(kind.pooler)) linear("dense", kind.head, d, classes[0]);
  else layers.push("dense");
  for (const w of wanted) for (const name of w.from) fits(name, w, kind, s, tensors);
  const count = wanted.reduce((n, w) => n + sizeOf(w.shape), 0);
  if (count > PARAMETERS) throw new Fault(`at most ${PARAMETERS} parameters, which a browser tab can hold`, String(count), "Choose a smaller checkpoint.");
  return { layers, wanted };
}

// fits holds a tensor of the checkpoint against what is made of it.
/** @param {string} name @param {Wanted} w @param {typeof bert} kind @param {ReturnType<typeof read>["sizes"]} s @param {Map<string, Tensor>} tensors */
function fits(name, w, kind, s, tensors) {
  const t = tensors.get(name), d = s.hidden;
  if (!t) throw new Fault(`the tensor ${kind.prefix}${name}`, `none among ${tensors.size} tensors`, "Choose all files of one checkpoint: config.json and every .safetensors.");
  if (!Object.hasOwn(BYTES, t.dtype)) throw new Fault(`${name} in F32, F16 or BF16`, short(t.dtype), "Save the checkpoint in one of these.");
  let shape = w.shape;
  if (name.endsWith("position_embeddings.weight")) shape = [s.places, d];
  else if (w.way) shape = name.endsWith(".bias") ? [d] : w.from.length > 1 ? [d, d] : w.shape.slice(-2).reverse();
  if (t.shape.length !== shape.length || t.shape.some((n, i) => n < 1 || n !== shape[i])) {
    throw new Fault(`${name} of shape [${shape}], as the configuration has it`, `[${short(t.shape)}]`, "Choose config.json and the tensors of the same checkpoint.");
  }
}

// turned is a matrix [rows×columns] with rows for columns.
/** @param {Float32Array} w @param {number} rows @param {number} columns */
function turned(w, rows, columns) {
  const out = new Float32Array(w.length);
  for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) out[j * rows + i] = w[i * columns + j];
  return out;
}

// across is the way of a matrix [rows×columns].
/** @param {number} rows @param {number} columns @returns {Way} */
const across = (rows, columns) => ({ map: ([w]) => turned(w, rows, columns), back: (v) => turned(v, columns, rows) });

// beside are square matrices with rows for columns, one beside the other.
/** @param {Float32Array[]} parts @param {number} d */
function beside(parts, d) {
  const out = new Float32Array(parts.length * d * d);
  parts.forEach((w, k) => { for (let i = 0; i < d; i++) for (let j = 0; j < d; j++) out[(j * parts.length + k) * d + i] = w[i * d + j]; });
  return out;
}

// apart is one of so many square matrices that stand beside each other.
/** @param {Float32Array} v @param {number} many @param {number} k @param {number} d */
function apart(v, many, k, d) {
  const w = new Float32Array(d * d);
  for (let i = 0; i < d; i++) for (let j = 0; j < d; j++) w[i * d + j] = v[(j * many + k) * d + i];
  return w;
}

/** @param {Float32Array[]} parts */
function joined(parts) {
  const out = new Float32Array(parts.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const p of parts) {
    out.set(p, at);
    at += p.length;
  }
  return out;
}

// numbers reads a tensor.
/** @param {Tensor} t */
async function numbers({ file, at, dtype, shape }) {
  const count = sizeOf(shape), b = await file.slice(at, at + count * BYTES[dtype]).arrayBuffer();
  if (dtype === "F32") return new Float32Array(b);
  const from = new Uint16Array(b), bits = new Uint32Array(count), out = new Float32Array(bits.buffer);
  if (dtype === "BF16") from.forEach((v, i) => { bits[i] = v << 16; });
  else from.forEach((v, i) => { out[i] = half(v); });
  return out;
}

// half is a number of 16 bits.
/** @param {number} v */
function half(v) {
  const sign = v & 0x8000 ? -1 : 1, exponent = v >> 10 & 31, fraction = v & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? (1024 + fraction) * 2 ** (exponent - 25) : fraction * 2 ** -24);
}

// converted is the file of the layers' tensors, a tensor at a time.
/** @param {Uint8Array} head @param {Wanted[]} wanted @param {Map<string, Tensor>} tensors */
async function* converted(head, wanted, tensors) {
  yield head;
  for (const { from, way } of wanted) {
    const parts = [];
    for (const name of from) parts.push(await numbers(/** @type {Tensor} */ (tensors.get(name))));
    yield bytesOf(way ? way.map(parts) : parts[0]);
  }
}

/** @param {Float32Array} v */
const bytesOf = (v) => new Uint8Array(v.buffer, v.byteOffset, v.byteLength);

// headed is the beginning of a safetensors file of tensors, each with its name, type, shape and bytes. Behind it numbers begin
// at a multiple of 8, as other programs have it, and take size bytes.
/** @param {Record<string, string>} metadata @param {[string, string, number[], number][]} tensors */
function headed(metadata, tensors) {
  /** @type {Record<string, unknown>} */
  const header = { __metadata__: metadata };
  let size = 0;
  for (const [name, dtype, shape, bytes] of tensors) header[name] = { dtype, shape, data_offsets: [size, size += bytes] };
  const text = new TextEncoder().encode(JSON.stringify(header)), room = 8 * Math.ceil(text.length / 8), head = new Uint8Array(8 + room).fill(32);
  new DataView(head.buffer).setBigUint64(0, BigInt(room), true);
  head.set(text, 8);
  return { head, size };
}

// CLASSES has what transformers calls a model of each kind that answers.
const CLASSES = /** @type {Record<string, string>} */ ({ bert: "Bert", roberta: "Roberta", "xlm-roberta": "XLMRoberta", camembert: "Camembert", distilbert: "DistilBert" });

const PIECE = 4 << 20; // bytes of a tensor that are handed over at once

/** @param {string} got */
const wrong = (got) => new Fault("a model that was trained from this checkpoint", got, "Choose config.json and the tensors that the run started from.");

/** @typedef {{ skip: number, numbers: () => Float32Array }} Trained what a tensor of the checkpoint's has become, from one of its numbers on */

// restore writes a model, given as a safetensors file of ours, in the form of the checkpoint that it was trained from, or as an adapter
// to that checkpoint.
/** @param {Uint8Array} model @param {File[]} files @param {string} [to] checkpoint or peft @returns {Promise<{ name: string, pieces: AsyncIterable<Uint8Array> }[]>} */
export async function restore(model, files, to) {
  const { config, kind, tensors, layers, wanted } = await opened(files), { values, apply, start } = ownTensors(model), last = layers.length - 1, own = `layers.${last}.`;
  if (!tensors.has(kind.pooler + ".weight")) throw new Fault("a checkpoint with a pooler", "one without, whose model answers from the mean over its tokens: transformers has no class for that", "Take the model as safetensors, with this program’s names.");
  /** @type {Map<string, Trained>} */
  const trained = new Map();
  for (const w of wanted) {
    const ours = values.get(w.name);
    if (w.name.startsWith(own)) continue;
    const rows = ours?.shape[0] ?? 0, fewer = w.from[0].endsWith("position_embeddings.weight") && rows < w.shape[0];
    if (!ours || ours.shape.length !== w.shape.length || ours.shape.some((n, i) => n !== w.shape[i] && !(fewer && i === 0))) throw wrong(ours ? `${w.name} of shape [${short(ours.shape)}] and not [${w.shape}]` : `none of the name ${w.name}`);
    w.from.forEach((name, k) => trained.set(name, { skip: w.way?.skip ?? 0, numbers: () => w.way ? w.way.back(ours.numbers(), k) : ours.numbers() }));
  }
  const head = values.get(own + "weight"), bias = values.get(own + "bias");
  if (!head || !bias || head.shape.length !== 2) throw wrong("one without a last layer");
  const [d, outputs] = head.shape;
  for (const [name, shape, numbers] of /** @type {const} */ ([["weight", [outputs, d], () => turned(head.numbers(), d, outputs)], ["bias", [outputs], () => bias.numbers()]])) {
    const full = `${kind.head}.${name}`, was = tensors.get(full);
    tensors.set(full, { given: was?.given ?? full, file: files[0], at: 0, size: 0, dtype: was?.dtype ?? "F32", shape: [...shape] });
    trained.set(full, { skip: 0, numbers });
  }
  if (to === "peft") return adapter(config, kind, tensors, trained, start);
  prefix(tensors, kind);
  return [{ name: "config.json", pieces: once(indented(described(config, apply, outputs))) }, { name: "model.safetensors", pieces: tensorPieces([...tensors], trained) }];
}

// adapter writes a model that was trained with LoRA as a PEFT adapter: A and B of each map, and the head. It computes A and B from the
// difference s·B·A between the map's weights and the checkpoint's. They are not the trained ones, but have the same product.
/** @param {Record<string, any>} config @param {typeof bert} kind @param {Map<string, Tensor>} tensors @param {Map<string, Trained>} trained @param {Record<string, any>} start */
async function adapter(config, kind, tensors, trained, { trainable = "all", lora_alpha, lora_targets }) {
  const rank = Number(/^lora:(\d+)$/.exec(trainable)?.[1] ?? 0), alpha = lora_alpha || 2 * rank, named = (lora_targets || "query,value").split(",").map((/** @type {string} */ t) => t.trim());
  const modules = [...kind.maps, kind.out].filter((_, i) => named.includes(TARGETS[i])), widest = config[kind.hidden];
  if (!(rank >= 1 && rank <= widest && alpha > 0 && modules.length > 0)) throw new Fault(`a model trained with start.trainable lora:R, R from 1 to ${widest}`, short(`${trainable}, alpha ${alpha}, ${named}`), "Take this one as a checkpoint.");
  /** @type {[string, number[], Float32Array][]} */
  const parts = [];
  for (const [name, { skip, numbers: now }] of trained) {
    const t = /** @type {Tensor} */ (tensors.get(name)), at = `base_model.model.${name.startsWith("classifier.") ? "" : kind.prefix}${name}`;
    if (name.startsWith("classifier.")) { // the head, and what RoBERTa has before it in the same module
      parts.push([at, t.shape, now()]);
      continue;
    }
    const ours = now(), was = (await numbers(t)).subarray(skip);
    if (modules.some((m) => name.endsWith(`.${m}.weight`))) {
      const [out, inputs] = t.shape, { a, b } = factored(name, ours, was, out, inputs, rank);
      parts.push([at.replace("weight", "lora_A.weight"), [rank, inputs], a], [at.replace("weight", "lora_B.weight"), [out, rank], b.map((v) => v * rank / alpha)]);
    } else if (ours.some((v, i) => v !== was[i])) throw wrong(`one with other numbers in ${name}, where no map of low rank is`);
  }
  const described = {
    peft_type: "LORA", task_type: "SEQ_CLS", base_model_name_or_path: config._name_or_path || null, r: rank, lora_alpha: alpha, lora_dropout: 0, target_modules: modules.map((m) => m.endsWith(".dense") ? m : m.slice(m.lastIndexOf(".") + 1)),
    bias: "none", fan_in_fan_out: false, inference_mode: true, modules_to_save: ["classifier", "score"], use_rslora: false, use_dora: false,
  };
  return [{ name: "adapter_config.json", pieces: once(indented(described)) }, { name: "adapter_model.safetensors", pieces: adapterPieces(parts) }];
}

const TARGETS = ["query", "key", "value", "dense"]; // as runs name the maps of an attention

// factored splits ours − was into b [out×rank] times a [rank×inputs], whose rows have length 1. In each of rank rounds the longest
// remaining row becomes a row of a, and is subtracted from all rows.
/** @param {string} name @param {Float32Array} ours @param {Float32Array} was @param {number} out @param {number} inputs @param {number} rank */
function factored(name, ours, was, out, inputs, rank) {
  const rest = Float64Array.from(ours, (v, i) => v - was[i]), a = new Float32Array(rank * inputs), b = new Float32Array(out * rank);
  for (let k = 0; k < rank; k++) {
    let most = 0, size = 0;
    for (let i = 0; i < out; i++) {
      const s = dot(rest, i * inputs, rest, i * inputs, inputs);
      if (s > size) [most, size] = [i, s];
    }
    for (let j = 0; j < inputs && size > 0; j++) a[k * inputs + j] = rest[most * inputs + j] / Math.sqrt(size);
    for (let i = 0; i < out; i++) {
      const c = b[i * rank + k] = dot(rest, i * inputs, a, k * inputs, inputs);
      for (let j = 0; j < inputs; j++) rest[i * inputs + j] -= c * a[k * inputs + j];
    }
  }
  // The remainder of a true map is the rounding of float32: at most 1.3·10⁻⁷ of W was measured, over ranks 8 to 64 and maps from 10⁻⁶
  // to 10⁴ times W. Ten times as much is refused.
  const size = (/** @type {Float32Array | Float64Array} */ v) => Math.sqrt(dot(v, 0, v, 0, v.length));
  if (!(size(rest) <= 1.3e-6 * Math.max(size(ours), size(was)))) throw wrong(`one in which ${name} is another by more than a map of rank ${rank}`);
  return { a, b };
}

/** @param {Float32Array | Float64Array} x @param {number} i @param {Float32Array | Float64Array} y @param {number} j @param {number} n */
function dot(x, i, y, j, n) {
  let sum = 0;
  for (let k = 0; k < n; k++) sum += x[i + k] * y[j + k];
  return sum;
}

/** @param {[string, number[], Float32Array][]} parts */
async function* adapterPieces(parts) {
  yield headed({ format: "pt" }, parts.map(([name, shape, v]) => [name, "F32", shape, v.byteLength])).head;
  for (const [, , v] of parts) yield bytesOf(v);
}

// prefix gives tensors that came without it the prefix of the model's, which one with a head has to have: a checkpoint may have
// been saved without either.
/** @param {Map<string, Tensor>} tensors @param {typeof bert} kind */
function prefix(tensors, kind) {
  if ([...tensors.values()].some((t) => t.given.startsWith(kind.prefix))) return;
  for (const [name, t] of tensors) if (/^(?:embeddings|encoder|transformer|pooler)\./.test(name)) t.given = kind.prefix + t.given;
}

/** @param {Uint8Array} bytes */
async function* once(bytes) { yield bytes; }

/** @param {unknown} value */
const indented = (value) => new TextEncoder().encode(JSON.stringify(value, null, 2) + "\n");

// described is a configuration of a model that answers.
/** @param {Record<string, any>} config @param {any} apply @param {number} outputs */
function described(config, apply, outputs) {
  const names = Array.from({ length: outputs }, (_, i) => String(apply?.classes?.[i] ?? `LABEL_${i}`));
  return {
    ...config, architectures: [`${CLASSES[config.model_type]}ForSequenceClassification`],
    problem_type: ({ regression: "regression", "multi-label": "multi_label_classification" })[apply?.task] ?? "single_label_classification",
    id2label: Object.fromEntries(names.map((n, i) => [i, n])), label2id: Object.fromEntries(names.map((n, i) => [n, i])),
  };
}

// ownTensors reads a safetensors file of ours.
/** @param {Uint8Array} bytes */
function ownTensors(bytes) {
  const at = 8 + Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true)), { __metadata__, ...header } = JSON.parse(new TextDecoder().decode(bytes.subarray(8, at)));
  /** @type {Map<string, { shape: number[], numbers: () => Float32Array }>} */
  const values = new Map();
  for (const [name, { shape, data_offsets: [from, to] }] of Object.entries(header)) values.set(name, { shape, numbers: () => new Float32Array(bytes.slice(at + from, at + to).buffer) });
  const said = (/** @type {string} */ what) => JSON.parse(__metadata__?.[what] ?? "{}");
  return { values, apply: said("apply"), start: said("config").start ?? {} };
}

// tensorPieces is a safetensors file, a piece at a time: the tensors as they came, with the numbers of those that have others.
/** @param {[string, Tensor][]} tensors @param {Map<string, Trained>} trained */
async function* tensorPieces(tensors, trained) {
  yield headed({ format: "pt" }, tensors.map(([name, { given, size, dtype, shape }]) => [given, dtype, shape, trained.has(name) ? sizeOf(shape) * BYTES[dtype] : size])).head;
  for (const [name, t] of tensors) {
    const ours = trained.get(name), bytes = ours ? await replaced(t, ours) : undefined;
    if (bytes) for (let from = 0; from < bytes.length; from += PIECE) yield bytes.subarray(from, from + PIECE);
    else for (let k = 0; k < t.size; k += PIECE) yield new Uint8Array(await t.file.slice(t.at + k, t.at + Math.min(k + PIECE, t.size)).arrayBuffer());
  }
}

// replaced are the bytes of a tensor with other numbers, from one of them on.
/** @param {Tensor} t @param {Trained} ours */
async function replaced(t, { skip, numbers: made }) {
  let v = made();
  if (v.length < sizeOf(t.shape)) {
    const all = await numbers(t);
    all.set(v, skip);
    v = all;
  }
  if (t.dtype === "F32") return bytesOf(v);
  const bits = new Uint32Array(v.buffer, v.byteOffset, v.length), out = new Uint16Array(v.length);
  if (t.dtype === "BF16") bits.forEach((b, i) => { out[i] = b + 0x7fff + (b >>> 16 & 1) >>> 16; });
  else v.forEach((x, i) => { out[i] = halved(x); });
  const most = t.dtype === "BF16" ? 0x7f80 : 0x7c00;
  if (v.some((x, i) => !Number.isFinite(x) || (out[i] & 0x7fff) >= most)) throw new Fault(`numbers of ${t.given} that ${t.dtype} has, as the checkpoint's are`, "larger ones", "Start from the checkpoint in F32, or take the model as safetensors, with this program’s names.");
  return new Uint8Array(out.buffer);
}

// halved are the 16 bits of the number nearest to x, of two as near of the even one.
/** @param {number} x */
function halved(x) {
  const sign = x < 0 || Object.is(x, -0) ? 0x8000 : 0, size = Math.abs(x);
  if (size === 0) return sign;
  const exponent = Math.max(Math.floor(Math.log2(size)), -14), scaled = size / 2 ** (exponent - 10), down = Math.floor(scaled), rest = scaled - down;
  const whole = down + (rest > 0.5 || rest === 0.5 && down % 2 === 1 ? 1 : 0); // 1024 … 2048, or below of the smallest
  return sign | Math.min((exponent + 14) * 1024 + whole, 0x7c00);
}
