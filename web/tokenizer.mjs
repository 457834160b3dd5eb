// Reads a transformer's tokenizer, tokenizer.json or vocab.txt, in a worker of its own (web/backbone.js): Hugging Face's
// tokenizers, as rows of the numbers of tokens.
import { Tokenizer } from "@huggingface/tokenizers";

// The numbers of tokens that a row may have: the longest is what BERT and its kin take.
const PLACES = [64, 32, 128, 256, 512];

const KNOWN = 1 << 24; // tokens of an embedding, types included (core/nn)
const MOST = 64 << 20; // bytes of a tokenizer's file: those of large vocabularies have 17 MB

/** @typedef {{ ids: number[], types: number[] }} Encoded */
/** @typedef {{ outputs: { name: string, type: string, shape: number[], tokens: number, types?: number }[], run(texts: string[], output: string, pairs?: boolean): { shape: number[], values: Float32Array } }} Opened */

// open reads a tokenizer's file.
/** @param {File} file @returns {Promise<Opened>} */
export async function open(file) {
  if (file.size > MOST) throw new Error(`a tokenizer has at most ${MOST >> 20} MB, and ${file.name} has ${file.size >> 20}`);
  const text = await file.text(), source = /\.txt$/i.test(file.name) ? wordPieces(text, file.name) : described(text, file.name);
  let tokenizer;
  try {
    tokenizer = new Tokenizer(source, {});
  } catch (e) {
    throw new Error(`${file.name} describes no tokenizer that can be read here: ${String(e?.message ?? e).slice(0, 200)}`);
  }
  const tokens = known(source), pair = pairing(tokenizer, source.post_processor?.type === "RobertaProcessing"), most = Math.max(...pair.types) + 1;
  const output = (/** @type {number} */ n) => ({ name: `${n} tokens`, type: "float32", shape: [-1, n], tokens });
  return {
    outputs: [...PLACES.map(output), ...most > 1 && most * tokens <= KNOWN ? PLACES.map((n) => ({ ...output(n), name: `${n}${TYPED}`, tokens: most * tokens, types: most })) : []],
    run(texts, output, pairs = false) {
      const places = parseInt(output, 10), rows = texts.length / (pairs ? 2 : 1), values = new Float32Array(rows * places).fill(-1), typed = output.endsWith(TYPED);
      for (let i = 0; i < rows; i++) {
        const { ids, types } = pairs ? two(tokenizer, pair, texts[2 * i], texts[2 * i + 1], places) : one(tokenizer, texts[i], places);
        const odd = ids.findIndex((id) => !(Number.isInteger(id) && id >= 0 && id < tokens));
        if (odd >= 0) throw new Error(`the tokenizer gives ${String(ids[odd])} for the number of a token, of which it knows ${tokens}: it has none for what it does not know`);
        values.set(typed ? ids.map((id, k) => id + tokens * types[k]) : ids, i * places);
      }
      return { shape: [rows, places], values };
    },
  };
}

// What ends the name of an output whose tokens have the types of the texts that they are in: a token's number has that of all
// tokens added for the second text.
const TYPED = " tokens with types";

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
