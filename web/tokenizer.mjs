// Reads a transformer's tokenizer, tokenizer.json or vocab.txt, in a worker of its own (web/backbone.js): Hugging Face's
// tokenizers, as rows of the numbers of tokens, or for an ONNX model that takes these.
import { Tokenizer } from "@huggingface/tokenizers";

// The numbers of tokens that a row may have: the longest is what BERT and its kin take.
const PLACES = [64, 32, 128, 256, 512];

const KNOWN = 1 << 24; // tokens of an embedding, types included (core/nn)
const MOST_TYPES = 16; // of tokens: BERT has two
const MOST = 64 << 20; // bytes of a tokenizer's file: those of large vocabularies have 17 MB

/** @typedef {{ ids: number[], types: number[] }} Encoded */
/** @typedef {{ outputs: { name: string, type: string, shape: number[], tokens: number, types?: number }[], run(texts: string[], output: string, pairs?: boolean): { shape: number[], values: Float32Array } }} Opened */

// read loads a tokenizer and returns the number of its tokens and of their types, and rows, which tokenizes texts, or pairs of texts,
// into rows of at most so many tokens.
/** @param {File} file */
async function read(file) {
  if (file.size > MOST) throw new Error(`a tokenizer has at most ${MOST >> 20} MB, and ${file.name} has ${file.size >> 20}`);
  const text = await file.text(), source = /\.txt$/i.test(file.name) ? wordPieces(text, file.name) : described(text, file.name);
  let tokenizer, pair;
  try {
    tokenizer = new Tokenizer(source, {});
    pair = pairing(tokenizer, source.post_processor?.type === "RobertaProcessing");
    const odd = pair.types.find((type) => !(Number.isInteger(type) && type >= 0 && type < MOST_TYPES));
    if (odd !== undefined) throw new Error(`it has a token of the type ${odd}`);
  } catch (e) {
    throw new Error(`${file.name} describes no tokenizer that can be read here: ${String(e?.message ?? e).slice(0, 200)}`);
  }
  const tokens = known(source), most = Math.max(...pair.types) + 1;
  return {
    tokens, most,
    /** @param {string[]} texts @param {number} places @param {boolean} [pairs] @returns {Encoded[]} */
    rows: (texts, places, pairs = false) => Array.from({ length: texts.length / (pairs ? 2 : 1) }, (_, i) => {
      const row = pairs ? two(tokenizer, pair, texts[2 * i], texts[2 * i + 1], places) : one(tokenizer, texts[i], places);
      const odd = row.ids.findIndex((id) => !(Number.isInteger(id) && id >= 0 && id < tokens));
      if (odd >= 0) throw new Error(`the tokenizer gives ${String(row.ids[odd])} for the number of a token, of which it knows ${tokens}: it has none for what it does not know`);
      return row;
    }),
  };
}

// open makes rows of tokens.
/** @param {File} file @returns {Promise<Opened>} */
export async function open(file) {
  const { tokens, most, rows } = await read(file), output = (/** @type {number} */ n) => ({ name: `${n} tokens`, type: "float32", shape: [-1, n], tokens });
  return {
    outputs: [...PLACES.map(output), ...most > 1 && most * tokens <= KNOWN ? PLACES.map((n) => ({ ...output(n), name: `${n}${TYPED}`, tokens: most * tokens, types: most })) : []],
    run(texts, output, pairs) {
      const places = parseInt(output, 10), all = rows(texts, places, pairs), values = new Float32Array(all.length * places).fill(-1), typed = output.endsWith(TYPED);
      all.forEach(({ ids, types }, i) => values.set(typed ? ids.map((id, k) => id + tokens * types[k]) : ids, i * places));
      return { shape: [all.length, places], values };
    },
  };
}

// What ends the name of an output whose tokens have the types of the texts that they are in: a token's number has that of all
// tokens added for the second text.
const TYPED = " tokens with types";

// LENGTHS lists the limits on a row's tokens that a model is offered with. Most models were trained with the first; a short row costs no
// more under a larger limit, as it is run without padding.
const LENGTHS = [128, 64, 256, 512];

// TAKEN computes a model's input by its name, from a row that is filled up to so many places.
/** @type {Record<string, (row: Encoded, places: number) => number[]>} */
const TAKEN = {
  input_ids: ({ ids }, places) => filled(ids, places),
  attention_mask: ({ ids }, places) => filled(ids.map(() => 1), places),
  token_type_ids: ({ types }, places) => filled(types, places),
  position_ids: (_, places) => Array.from({ length: places }, (__, i) => i),
};

/** @param {number[]} values @param {number} places */
const filled = (values, places) => [...values, ...Array(places - values.length).fill(0)];

// feed wraps a model of tokens so that it takes texts. Each row is tokenized and run alone; its features are the mean of the output over
// its tokens, or the output at the first.
/** @param {any} ort @param {any} session of a model @param {File} file of its tokenizer */
export async function feed(ort, session, file) {
  const { rows } = await read(file), inputs = /** @type {any[]} */ (session.inputMetadata).map((t) => input(t, session.inputMetadata.length));
  if (!inputs.some((t) => t.takes === TAKEN.input_ids)) throw new Error("the model has no input input_ids, which the numbers of tokens would go to");
  const fixed = Math.max(...inputs.map((t) => t.places));
  if (inputs.some((t) => t.places > 0 && t.places !== fixed)) throw new Error(`the model's inputs have different numbers of tokens: ${inputs.map((t) => t.places).join(", ")}`);
  if (fixed > 0 && !inputs.some((t) => t.takes === TAKEN.attention_mask)) throw new Error(`the model takes ${fixed} tokens of each text, and has no input attention_mask by which shorter ones could be told: export it with an open number of tokens`);
  const all = /** @type {any[]} */ (session.outputMetadata), fit = all.filter((t) => t.isTensor && t.type === "float32" && (t.shape.length === 2 || t.shape.length === 3));
  if (fit.length === 0) throw new Error(`the model has no output of float32 [rows, features] or [rows, tokens, features]: ${all.map((t) => t.name).join(", ").slice(0, 200)}`);
  /** @type {Map<string, { output: string, first: boolean, places: number, width: number }>} */
  const ways = new Map();
  for (const places of fixed > 0 ? [fixed] : LENGTHS) {
    for (const { name, shape } of fit) {
      const width = typeof shape.at(-1) === "number" ? shape.at(-1) : -1;
      if (shape.length === 2) ways.set(`${name} of ${places} tokens`, { output: name, first: false, places, width });
      else for (const first of [false, true]) ways.set(`${name}, ${first ? "the first" : "mean"} of ${places} tokens`, { output: name, first, places, width });
    }
  }
  return {
    inputs: [{ name: "text", type: "string", shape: [-1], pairs: true }],
    outputs: [...ways].map(([name, { width }]) => ({ name, type: "float32", shape: [-1, width] })),
    // run takes one row, as core/backbone asks for no more at a time where there is a tokenizer.
    /** @param {string[]} texts @param {string} name of an output @param {boolean} pairs */
    async run(texts, name, pairs) {
      const way = /** @type {{ output: string, first: boolean, places: number, width: number }} */ (ways.get(name)), [row] = rows(texts, way.places, pairs), tokens = row.ids.length;
      if (tokens === 0 && way.width < 1) throw new Error("the tokenizer makes no tokens of an empty text, and the model does not say how many features it gives: declare rows with a missing text as left out");
      if (tokens === 0) return { shape: [1, way.width], values: new Float32Array(way.width) }; // an empty text, and a tokenizer without tokens at its ends
      const places = fixed > 0 ? fixed : tokens, feeds = Object.fromEntries(inputs.map((t) => [t.name, new ort.Tensor(t.type, t.numbers(t.takes(row, places)), [1, places])]));
      const { [way.output]: y } = await session.run(feeds, [way.output]), values = features(y, way, tokens);
      return { shape: [1, values.length], values };
    },
  };
}

// input checks an input of a model and returns how it is computed. A single input takes the numbers of tokens, whatever its name.
/** @param {any} t @param {number} many */
function input({ name, type, shape, isTensor }, many) {
  const key = many === 1 ? "input_ids" : name.replace(/:0$/, ""), takes = Object.hasOwn(TAKEN, key) && TAKEN[key], is = `the model's input ${String(name).slice(0, 60)}`, size = (/** @type {unknown} */ d) => typeof d === "number" && d > 0 ? d : 0;
  if (!takes) throw new Error(`${is} is none that a tokenizer can give: ${Object.keys(TAKEN).join(", ")}`);
  if (!isTensor || type !== "int64" && type !== "int32") throw new Error(`${is} is of ${type ?? "no tensor"}, and the numbers of tokens are int64 or int32: choose the model without a tokenizer, or export it from the numbers of tokens on`);
  if (shape.length !== 2 || size(shape[0]) > 1 || size(shape[1]) > 512) throw new Error(`${is} is not [rows, tokens] with an open number of rows and at most 512 tokens: export it so`);
  return { name, type, takes, places: size(shape[1]), numbers: type === "int64" ? (/** @type {number[]} */ v) => BigInt64Array.from(v, BigInt) : (/** @type {number[]} */ v) => Int32Array.from(v) };
}

// features pools an output [1×places×width] over the first so many places, or copies one that is [1×width].
/** @param {any} y @param {{ output: string, first: boolean }} way @param {number} tokens */
function features({ type, dims, data }, { output, first }, tokens) {
  const width = dims.at(-1);
  if (type !== "float32" || dims.length < 2 || dims.length > 3 || dims[0] !== 1 || width < 1 || dims.length === 3 && dims[1] < tokens) throw new Error(`the output ${output} is [${dims}] of ${type} for ${tokens} tokens of one text`);
  if (dims.length === 2 || first) return data.slice(0, width);
  const sums = new Float64Array(width);
  for (let k = 0; k < tokens; k++) for (let i = 0; i < width; i++) sums[i] += data[k * width + i];
  return Float32Array.from(sums, (v) => v / tokens);
}

// one keeps the first tokens of a text, and its last, which ends it.
/** @param {Tokenizer} tokenizer @param {string} text @param {number} places @returns {Encoded} */
function one(tokenizer, text, places) {
  const { ids } = tokenizer.encode(text), kept = ids.length <= places ? ids : [...ids.slice(0, places - 1), ids[ids.length - 1]];
  return { ids: kept, types: kept.map(() => 0) };
}

// pairing finds what a tokenizer puts before, between and behind two texts, which are the first and the third of its parts.
// RoBERTa has one type, whatever the library says.
/** @param {Tokenizer} tokenizer @param {boolean} plain */
function pairing(tokenizer, plain) {
  const { ids, token_type_ids: given } = tokenizer.encode("a", { text_pair: "b", return_token_type_ids: true }), types = plain ? ids.map(() => 0) : given ?? ids.map(() => 0), [first, second] = ["a", "b"].map((t) => bare(tokenizer, t));
  const is = (/** @type {number[]} */ part, /** @type {number} */ at) => part.every((id, k) => ids[at + k] === id);
  let from = 0, to = ids.length - second.length;
  while (from < ids.length && !is(first, from)) from++;
  while (to > from && !is(second, to)) to--;
  const ends = [0, from, from + first.length, to, to + second.length, ids.length];
  return { types, parts: ends.slice(1).map((end, k) => ({ ids: ids.slice(ends[k], end), type: types[ends[k]] ?? 0 })) };
}

// bare are the tokens of a text without those around it.
/** @param {Tokenizer} tokenizer @param {string} text */
const bare = (tokenizer, text) => tokenizer.encode(text, { add_special_tokens: false }).ids;

// two puts two texts together, empty ones too. Where they have more tokens than there are places the last of the longer are left
// out, as transformers' “longest_first” has it.
/** @param {Tokenizer} tokenizer @param {ReturnType<typeof pairing>} pair @param {string} a @param {string} b @param {number} places @returns {Encoded} */
function two(tokenizer, { parts }, a, b, places) {
  const first = bare(tokenizer, a), second = bare(tokenizer, b), room = places - parts[0].ids.length - parts[2].ids.length - parts[4].ids.length;
  while (first.length + second.length > Math.max(room, 0)) (first.length > second.length ? first : second).pop();
  const all = parts.map((part, k) => ({ ...part, ids: k === 1 ? first : k === 3 ? second : part.ids }));
  return { ids: all.flatMap((p) => p.ids).slice(0, places), types: all.flatMap((p) => p.ids.map(() => p.type)).slice(0, places) };
}

// described reads tokenizer.json.
/** @param {string} text @param {string} name */
function described(text, name) {
  let source;
  try {
    source = JSON.parse(text);
  } catch (e) {
    throw new Error(`${name} is no JSON: ${String(e?.message ?? e).slice(0, 200)}`);
  }
  if (typeof source?.model?.type !== "string") {
    throw new Error(source?.model_type || source?.tokenizer_class ? `${name} describes a model, or settings, and no tokenizer: choose tokenizer.json or vocab.txt` : `${name} describes no tokenizer: choose tokenizer.json or vocab.txt`);
  }
  const { type } = source.model;
  if (!["WordPiece", "Unigram", "BPE"].includes(type)) throw new Error(`${name} describes no tokenizer that can be read here: it is of the kind ${type.slice(0, 40)}, and not WordPiece, Unigram or BPE`);
  return source;
}

// known is the number of tokens: one more than the greatest number.
/** @param {any} source */
function known(source) {
  const vocab = source.model.vocab ?? {};
  let most = Array.isArray(vocab) ? vocab.length - 1 : -1;
  if (!Array.isArray(vocab)) for (const id of Object.values(vocab)) if (Number.isInteger(id)) most = Math.max(most, /** @type {number} */ (id));
  for (const t of Array.isArray(source.added_tokens) ? source.added_tokens : []) if (Number.isInteger(t?.id)) most = Math.max(most, t.id);
  if (most < 0 || most >= KNOWN) throw new Error(`a vocabulary of ${most + 1} tokens, and layers know at most ${KNOWN}`);
  return most + 1;
}

// wordPieces describes the tokenizer of BERT by its vocabulary, a token a line. It takes capitals for small letters
// where no word of it has a capital.
/** @param {string} text @param {string} name */
function wordPieces(text, name) {
  const lines = text.split(/\r?\n/);
  while (lines.at(-1) === "") lines.pop();
  /** @type {Record<string, number>} */
  const vocab = Object.create(null);
  lines.forEach((token, id) => { vocab[token] ??= id; });
  for (const token of ["[UNK]", "[CLS]", "[SEP]"]) if (vocab[token] === undefined) throw new Error(`${name} has no line ${token}: it is no vocabulary of BERT's kind, so choose tokenizer.json`);
  const cased = lines.some((token) => /^(?:##)?\p{L}+$/u.test(token) && token !== token.toLowerCase());
  const special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"].filter((content) => vocab[content] !== undefined);
  return {
    version: "1.0", truncation: null, padding: null,
    added_tokens: special.map((content) => ({ id: vocab[content], content, single_word: false, lstrip: false, rstrip: false, normalized: false, special: true })),
    normalizer: { type: "BertNormalizer", clean_text: true, handle_chinese_chars: true, strip_accents: null, lowercase: !cased },
    pre_tokenizer: { type: "BertPreTokenizer" },
    post_processor: {
      type: "TemplateProcessing",
      single: [{ SpecialToken: { id: "[CLS]", type_id: 0 } }, { Sequence: { id: "A", type_id: 0 } }, { SpecialToken: { id: "[SEP]", type_id: 0 } }],
      pair: [{ SpecialToken: { id: "[CLS]", type_id: 0 } }, { Sequence: { id: "A", type_id: 0 } }, { SpecialToken: { id: "[SEP]", type_id: 0 } }, { Sequence: { id: "B", type_id: 1 } }, { SpecialToken: { id: "[SEP]", type_id: 1 } }],
      special_tokens: Object.fromEntries(["[CLS]", "[SEP]"].map((t) => [t, { id: t, ids: [vocab[t]], tokens: [t] }])),
    },
    decoder: { type: "WordPiece", prefix: "##", cleanup: true },
    model: { type: "WordPiece", unk_token: "[UNK]", continuing_subword_prefix: "##", max_input_chars_per_word: 100, vocab: { ...vocab } },
  };
}
