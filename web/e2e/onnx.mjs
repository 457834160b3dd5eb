// ONNX files of small models, which tests write: protocol buffers,
// https://onnx.ai/onnx/repo-docs/IR.html.

/** @param {number} n */
const varint = (n) => {
  const bytes = [];
  for (let v = BigInt.asUintN(64, BigInt(n)); ; v >>= 7n) {
    bytes.push(Number(v & 127n) | (v > 127n ? 128 : 0));
    if (v <= 127n) return Buffer.from(bytes);
  }
};
/** @param {number} field @param {number | string | Uint8Array} v @returns {Buffer} */
export const put = (field, v) => typeof v === "number" ? Buffer.concat([varint(field << 3), varint(v)])
  : Buffer.concat([varint(field << 3 | 2), varint(Buffer.byteLength(/** @type {any} */ (v))), Buffer.from(/** @type {any} */ (v))]);
export const message = (...parts) => Buffer.concat(parts);

export const FLOAT = 1, UINT8 = 2, INT64 = 7, STRING = 8;
/** @param {string} name @param {number} type @param {(number | string)[]} dims */
export const value = (name, type, dims) => message(put(1, name), put(2, put(1, message(put(1, type),
  put(2, message(...dims.map((d) => put(1, put(typeof d === "number" ? 1 : 2, d)))))))));
/** @param {string} name @param {number[]} dims @param {Float32Array | BigInt64Array} v */
export const constant = (name, dims, v) => message(...dims.map((d) => put(1, d)), put(2, v instanceof Float32Array ? FLOAT : INT64), put(8, name), put(9, new Uint8Array(v.buffer)));
/** @param {number | string | number[] | string[]} v */
const attribute = (v) => typeof v === "number" ? [put(3, v), put(20, 2)] : typeof v === "string" ? [put(4, v), put(20, 3)]
  : typeof v[0] === "number" ? [...v.map((i) => put(8, i)), put(20, 7)] : [...v.map((s) => put(9, s)), put(20, 8)];
/** @param {string} op @param {string[]} inputs @param {string[]} outputs @param {Record<string, number | string | number[] | string[]>} attributes */
export const node = (op, inputs, outputs, attributes = {}, domain = "") => message(...inputs.map((n) => put(1, n)), ...outputs.map((n) => put(2, n)), put(4, op),
  ...Object.entries(attributes).map(([name, v]) => put(5, message(put(1, name), ...attribute(v)))), put(7, domain));
/** @param {{ nodes: Buffer[], constants?: Buffer[], inputs: Buffer[], outputs: Buffer[], operators?: number }} g */
export const model = ({ nodes, constants = [], inputs, outputs, operators = 13 }) => message(put(1, 8), put(8, message(put(1, ""), put(2, operators))), put(8, message(put(1, "ai.onnx.ml"), put(2, 2))),
  put(7, message(...nodes.map((n) => put(1, n)), put(2, "g"), ...constants.map((c) => put(5, c)), ...inputs.map((i) => put(11, i)), ...outputs.map((o) => put(12, o)))));

// drawn is a list of numbers about 0 that is the same each time.
/** @param {number} n @param {number} size */
export function drawn(n, size) {
  let s = 7;
  return Float32Array.from({ length: n }, () => {
    let sum = 0;
    for (let k = 0; k < 4; k++) sum += (s = (s * 1103515245 + 12345) % 2147483648) / 2147483648 - 0.5;
    return sum * Math.sqrt(3) * size;
  });
}

// reader is a model of texts: it cuts them into words, and has 8 numbers for each that it
// knows, of which the first say how kind it is.
export const kind = ["good", "fine", "lovely"], unkind = ["bad", "awful", "dull"], vocabulary = [...kind, ...unkind, "the", "film", "was", "and"], WIDTH = 8;
export const vectors = drawn((1 + vocabulary.length) * WIDTH, 0.3);
vocabulary.forEach((word, i) => { vectors[(i + 1) * WIDTH] = kind.includes(word) ? 1 : unkind.includes(word) ? -1 : 0; });
/** @param {(number | string)[]} dims */
export const reader = (dims) => model({
  nodes: [
    node("Reshape", ["text", "flat"], ["row"]), node("StringNormalizer", ["row"], ["small"], { case_change_action: "LOWER" }), node("StringSplit", ["small"], ["words", "count"]),
    node("LabelEncoder", ["words"], ["tokens"], { keys_strings: vocabulary, values_int64s: vocabulary.map((_, i) => i + 1), default_int64: 0 }, "ai.onnx.ml"),
    node("Gather", ["vectors", "tokens"], ["parts"]), node("ReduceMean", ["parts", "axes"], ["whole"], { keepdims: 0 }),
  ],
  constants: [constant("vectors", [1 + vocabulary.length, WIDTH], vectors), constant("axes", [1], BigInt64Array.of(1n)), constant("flat", [1], BigInt64Array.of(-1n))],
  inputs: [value("text", STRING, dims)], outputs: [value("parts", FLOAT, ["n", "words", WIDTH]), value("whole", FLOAT, ["n", WIDTH])], operators: 20,
});
