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
