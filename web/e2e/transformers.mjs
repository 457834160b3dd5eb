// Checkpoints of transformers, as Hugging Face's libraries save them, of numbers that tests make up.

export const json = (name, value) => new File([typeof value === "string" ? value : JSON.stringify(value)], name);

// tensorsFile writes tensors of numbers as safetensors, in a type.
export function tensorsFile(name, tensors, dtype = "F32") {
  const header = { __metadata__: { format: "pt" } }, parts = [];
  let at = 0;
  for (const [key, { shape, values }] of Object.entries(tensors)) {
    const b = { F32: () => Float32Array.from(values), BF16: () => Uint16Array.from(new Uint32Array(Float32Array.from(values).buffer), (v) => v >>> 16), F16: () => Uint16Array.from(values, half) }[dtype]();
    header[key] = { dtype, shape, data_offsets: [at, at += b.byteLength] };
    parts.push(b);
  }
  const head = new TextEncoder().encode(JSON.stringify(header)), size = new DataView(new ArrayBuffer(8));
  size.setBigUint64(0, BigInt(head.length), true);
  return new File([size, head, ...parts], name);
}

// half are the bits of a whole number, or of one with few binary places, in 16 bits.
function half(v) {
  if (v === 0) return 0;
  const sign = v < 0 ? 0x8000 : 0, e = Math.floor(Math.log2(Math.abs(v)));
  return sign | e + 15 << 10 | Math.abs(v) / 2 ** e * 1024 - 1024;
}

// drawn is a checkpoint of a kind. Unless there are others, its numbers have few binary places, so that every type has
// them exactly, and hardly two that stand near each other are the same.
/** @param {string} kind @param {{ head?: number, pooler?: boolean, vocabulary?: number, d?: number, wide?: number, places?: number, number?: (i: number, name: string) => number }} [of] */
export function drawn(kind, { head = 2, pooler = true, vocabulary = 11, d = 4, wide = 6, places = 9, number = (i) => (i * 7 % 251 - 125) / 16 } = {}) {
  const tensors = {};
  let next = 0;
  const add = (name, ...shape) => { tensors[name] = { shape, values: Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => number(next++, name)) }; };
  const linear = (name, i, o) => { add(`${name}.weight`, o, i); add(`${name}.bias`, o); };
  const norm = (name) => { add(`${name}.weight`, d); add(`${name}.bias`, d); };
  const distil = kind === "distilbert", at = `${kind}.`;
  add(`${at}embeddings.word_embeddings.weight`, vocabulary, d);
  add(`${at}embeddings.position_embeddings.weight`, places, d);
  if (!distil) add(`${at}embeddings.token_type_embeddings.weight`, 2, d);
  norm(`${at}embeddings.LayerNorm`);
  for (let i = 0; i < 2; i++) {
    const b = distil ? `${at}transformer.layer.${i}.` : `${at}encoder.layer.${i}.`;
    for (const m of distil ? ["attention.q_lin", "attention.k_lin", "attention.v_lin", "attention.out_lin"] : ["attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"]) linear(b + m, d, d);
    norm(b + (distil ? "sa_layer_norm" : "attention.output.LayerNorm"));
    linear(b + (distil ? "ffn.lin1" : "intermediate.dense"), d, wide);
    linear(b + (distil ? "ffn.lin2" : "output.dense"), wide, d);
    norm(b + (distil ? "output_layer_norm" : "output.LayerNorm"));
  }
  if (pooler) linear({ bert: "bert.pooler.dense", roberta: "classifier.dense", distilbert: "pre_classifier" }[kind], d, d);
  if (head) linear(kind === "roberta" ? "classifier.out_proj" : "classifier", d, head);
  const config = distil
    ? { model_type: kind, activation: "gelu", dim: d, hidden_dim: wide, n_heads: 2, n_layers: 2, max_position_embeddings: places, vocab_size: vocabulary }
    : { model_type: kind, hidden_act: "gelu", hidden_size: d, intermediate_size: wide, num_attention_heads: 2, num_hidden_layers: 2, max_position_embeddings: places, vocab_size: vocabulary,
      layer_norm_eps: kind === "bert" ? 1e-12 : 1e-5, pad_token_id: kind === "bert" ? 0 : 1, type_vocab_size: 2 };
  return { config, tensors, d, wide, places };
}

export const files = ({ config, tensors }, dtype) => [json("config.json", config), tensorsFile("model.safetensors", tensors, dtype)];

const WORDS = "the a parcel printer invoice update meeting refund delivery nurse came works late never again fine broken soon good bad".split(" ");

const TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ...WORDS, "##s", "Ä"]; // as vocab.txt has them, with a piece of a word

export const vocabulary = () => new File([TOKENS.join("\n")], "vocab.txt");

// mails is a table of texts, of which a word decides the answer.
export function mails(n) {
  let seed = 1;
  const draw = (m) => (seed = seed * 48271 % 2147483647) % m;
  const rows = Array.from({ length: n }, (_, i) => {
    const words = Array.from({ length: 3 + draw(8) }, () => WORDS[draw(WORDS.length - 2)]);
    words.splice(draw(words.length), 0, i % 2 ? "Good" : "bad");
    return `${words.join(" ")}${draw(2) ? "s!" : ""},${i % 2 ? "yes" : "no"}`;
  });
  return ["text,answer", ...rows].join("\n") + "\n";
}

// A checkpoint of random numbers, of about the sizes of those that were trained.
export const checkpoint = drawn("bert", {
  head: 3, vocabulary: TOKENS.length, d: 16, wide: 32, places: 80,
  number: (i, name) => {
    const u = Math.sin(12.9898 * (i + 1)) * 43758.5453, v = 2 * (u - Math.floor(u)) - 1;
    return name.endsWith("LayerNorm.weight") ? 1 + 0.1 * v : name.endsWith("bias") ? 0.1 * v : name.includes("embeddings") ? v : 0.5 * v;
  },
});

// noCheckpoints are files that are no checkpoint, or none that layers can be, each with what is said of it.
export async function noCheckpoints() {
  const c = drawn("bert"), [config, tensors] = files(c), bytes = new Uint8Array(await tensors.arrayBuffer());
  const without = (name) => files({ ...c, tensors: Object.fromEntries(Object.entries(c.tensors).filter(([n]) => n !== name)) });
  const other = (changes) => [json("config.json", { ...c.config, ...changes }), tensors];
  const shaped = (name, shape) => files({ ...c, tensors: { ...c.tensors, [name]: { shape, values: Array(shape.reduce((a, b) => a * b, 1)).fill(1) } } });
  const headed = (text, size = text.length) => {
    const b = new DataView(new ArrayBuffer(8));
    b.setBigUint64(0, BigInt(size), true);
    return [config, new File([b, text], "model.safetensors")];
  };
  const query = "bert.encoder.layer.1.attention.self.query.weight";
  return /** @type {[string, File[], RegExp][]} */ ([
    ["tensors alone", [tensors], /expected config\.json beside/],
    ["a configuration alone", [config], /expected model\.safetensors beside/],
    ["nothing", [], /expected config\.json/],
    ["no JSON", [json("config.json", "{"), tensors], /configuration in JSON/],
    ["null", [json("config.json", "null"), tensors], /with a model_type/],
    ["a list", [json("config.json", "[]"), tensors], /with a model_type/],
    ["a huge configuration", [json("config.json", " ".repeat(2 << 20)), tensors], /at most 1 MB/],
    ["another kind", other({ model_type: "llama" }), /known kind .*got llama/],
    ["a kind from the prototype", other({ model_type: "constructor" }), /known kind .*got constructor/],
    ["another activation", other({ hidden_act: "gelu_new" }), /got "gelu_new"/],
    ["relative positions", other({ position_embedding_type: "relative_key" }), /absolute positions/],
    ["a decoder", other({ is_decoder: true }), /an encoder/],
    ["no size", other({ hidden_size: undefined }), /hidden_size, a whole number/],
    ["a size that is a text", other({ hidden_size: "4" }), /hidden_size, a whole number/],
    ["a size below 1", other({ num_hidden_layers: -1 }), /num_hidden_layers, a whole number/],
    ["a size that overflows", other({ intermediate_size: 2 ** 53 }), /intermediate_size, a whole number/],
    ["many layers", other({ num_hidden_layers: 5000 }), /num_hidden_layers, a whole number/],
    ["heads that do not divide", other({ num_attention_heads: 3 }), /divide hidden_size/],
    ["an odd epsilon", other({ layer_norm_eps: 3e-6 }), /power of ten/],
    ["an epsilon of 0", other({ layer_norm_eps: 0 }), /power of ten/],
    ["an epsilon that is a text", other({ layer_norm_eps: "1e-5" }), /power of ten/],
    ["an epsilon in a list", other({ layer_norm_eps: [1e-5] }), /power of ten.*a list or an object/],
    ["an activation nested deeply", [json("config.json", JSON.stringify(c.config).replace('"gelu"', "[".repeat(1e5) + "]".repeat(1e5))), tensors], /gelu or relu.*a list or an object/],
    ["a type that is no text", headed('{"a":{"dtype":{"toString":1},"shape":[1],"data_offsets":[0,0]}}'), /got none among 1 tensors/],
    ["a shape of a million sizes", headed(`{"a":{"dtype":"F32","shape":[${Array(1e6).fill(1)}],"data_offsets":[0,0]}}`), /^.{0,400}$/s],
    ["another width", other({ hidden_size: 6 }), /word_embeddings\.weight of shape \[11,6\].*got \[11,4\]/],
    ["another vocabulary", other({ vocab_size: 12 }), /word_embeddings\.weight of shape \[12,4\]/],
    ["more layers than tensors", other({ num_hidden_layers: 3 }), /the tensor bert\.encoder\.layer\.2\.attention\.self\.query\.weight, got none/],
    ["a tensor missing", without(query), /the tensor bert\.encoder\.layer\.1\.attention\.self\.query\.weight, got none/],
    ["a tensor of another shape", shaped(query, [4, 5]), /query\.weight of shape \[4,4\].*got \[4,5\]/],
    ["an empty tensor", shaped(query, [0, 4]), /got \[0,4\]/],
    ["whole numbers", [config, new File([new TextDecoder("latin1").decode(bytes).replace('"F32"', '"I32"')].map((t) => Uint8Array.from(t, (ch) => ch.charCodeAt(0))), "model.safetensors")], /in F32, F16 or BF16, got I32/],
    ["cut short", [config, new File([bytes.subarray(0, bytes.length - 3)], "model.safetensors")], /not in the file/],
    ["8 bytes", [config, new File([bytes.subarray(0, 8)], "model.safetensors")], /whole safetensors file/],
    ["a header of 2 GB", headed("{}", 2 ** 31), /a header of 2147483648 bytes/],
    ["a header of 2⁶³ bytes", headed("{}", 2 ** 63), /a header of/],
    ["a header that is no JSON", headed("{x}"), /no JSON/],
    ["a header that is a list", headed("[]"), /no object/],
    ["a header of null", headed("null"), /no object/],
    ["no tensors", headed("{}"), /got none among 0 tensors/],
    ["a place before the file", headed('{"a":{"dtype":"F32","shape":[1],"data_offsets":[-4,0]}}'), /not in the file/],
    ["a place behind it", headed('{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'), /not in the file/],
    ["a shape that overflows", headed('{"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}}'), /of shape \[4294967296,4294967296\] and 0 bytes/],
    ["a shape of texts", headed('{"a":{"dtype":"F32","shape":["1"],"data_offsets":[0,0]}}'), /not in the file/],
    ["a tensor of null", headed('{"a":null}'), /not in the file/],
    ["the same file twice", [config, tensors, tensors], /twice/],
    ["the same tensor under two names", files({ ...c, tensors: { ...c.tensors, "pooler.dense.bias": c.tensors["bert.pooler.dense.bias"] } }), /twice/],
  ]);
}

// noTokenizers are files that are no tokenizer, each with what is said of it.
export function noTokenizers() {
  const described = (model, more = {}) => json("tokenizer.json", { added_tokens: [], normalizer: null, pre_tokenizer: null, post_processor: null, decoder: null, model, ...more });
  const pieces = { type: "WordPiece", unk_token: "a", continuing_subword_prefix: "##", vocab: { a: 0 } };
  const nested = (key, of) => json("tokenizer.json", JSON.stringify({ added_tokens: [], [key]: null, model: pieces }).replace("null", `{"type":"Sequence","${of}":[`.repeat(2e4) + "]}".repeat(2e4)));
  return /** @type {[string, File, RegExp][]} */ ([
    ["no JSON", json("tokenizer.json", "{"), /is no JSON/],
    ["null", json("tokenizer.json", "null"), /describes no tokenizer/],
    ["a list", json("tokenizer.json", "[]"), /describes no tokenizer/],
    ["a model's configuration", json("config.json", { model_type: "bert" }), /choose tokenizer\.json or vocab\.txt/],
    ["an unknown kind", described({ type: "Nothing", vocab: { a: 0 } }), /no tokenizer that can be read here/],
    ["no vocabulary", described({ type: "WordPiece", vocab: {} }), /no tokenizer that can be read here|a vocabulary of 0 tokens/],
    ["numbers beyond all layers", described({ type: "WordPiece", unk_token: "a", continuing_subword_prefix: "##", vocab: { a: 2 ** 40 } }), /a vocabulary of/],
    ["an unknown normaliser", described(pieces, { normalizer: { type: "Nothing" } }), /can be read here/],
    ["a pattern that is none", described(pieces, { pre_tokenizer: { type: "Split", pattern: { Regex: "(" }, behavior: "Isolated", invert: false } }), /can be read here/],
    ["normalisers in each other", nested("normalizer", "normalizers"), /no JSON|can be read here/],
    ["pre-tokenizers in each other", nested("pre_tokenizer", "pretokenizers"), /no JSON|can be read here/],
    ["a post-processor of numbers", described(pieces, { post_processor: { type: "TemplateProcessing", single: 5, pair: 6, special_tokens: 7 } }), /can be read here/],
    ["an added token of null", described(pieces, { added_tokens: [null] }), /can be read here/],
    ["a text", new File(["Dear all,\n"], "notes.txt"), /no line \[UNK\]/],
    ["an empty text", new File([], "vocab.txt"), /no line \[UNK\]|an empty file\. Choose tokenizer\.json or vocab\.txt/],
    ["a long vocabulary", described({ type: "WordPiece", unk_token: "a", continuing_subword_prefix: "##", vocab: { a: 0, b: 2 ** 24 } }), /16777217 tokens/],
  ]);
}
