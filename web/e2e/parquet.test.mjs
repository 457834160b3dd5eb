// Parquet files as writers make them, in every encoding, and as somebody makes them who means
// harm: a few kilobytes that ask for hours, or for all memory. They are read in Node, by the
// module that the trainer's worker loads.
import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";
import zlib from "node:zlib";
import { ByteWriter, parquetWriteBuffer } from "hyparquet-writer";
import { writePageHeader } from "hyparquet-writer/src/datapage.js";
import { writeMetadata } from "hyparquet-writer/src/metadata.js";
import { open } from "../parquet.mjs";

// allowance is core/data/source's.
const allowance = (/** @type {number} */ size) => (32 << 20) + 2 * 1032 * size;

// read reads all of a file as often as a table is read, and is the text of the first time, or the
// bytes of it where they are many; held is how much memory it took.
/** @param {Uint8Array} bytes @param {{ times?: number, label?: string }} [how] */
async function read(bytes, { times = 1, label = "" } = {}) {
  const file = await open(new Blob([/** @type {any} */ (bytes)]), label, allowance(bytes.length));
  await file.settle();
  let size = 0, held = 0;
  const parts = [], before = memory();
  for (let i = 0; i < times; i++) {
    const rows = file.read();
    for (let part; (part = await rows.next());) {
      size += part.length;
      held = Math.max(held, memory() - before);
      if (size < 1 << 24) parts.push(Buffer.from(part));
    }
  }
  return { text: Buffer.concat(parts).toString(), size, held };
}

const memory = () => {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};

/** @typedef {{ header: any, bytes: Uint8Array }} Page */
/** @typedef {{ name: string, type: string, codec?: string, pages: Page[], repetition?: string, element?: object, values?: number }} Made a column of a row group; values is how many it says it has, if not one a row */

// made is a Parquet file of pages as they are given, whatever they say.
/** @param {number} rows @param {Made[]} columns @param {{ groups?: number, schema?: any[], said?: number }} [how] said is the number of rows by the metadata */
function made(rows, columns, { groups = 1, schema, said = rows * groups } = {}) {
  const w = new ByteWriter();
  w.appendUint32(0x31524150);
  const chunks = columns.map((c) => {
    const start = w.offset;
    let dictionary, data;
    for (const { header, bytes } of c.pages) {
      if (header.type === "DICTIONARY_PAGE") dictionary = BigInt(w.offset);
      else data ??= BigInt(w.offset);
      writePageHeader(w, { compressed_page_size: bytes.length, uncompressed_page_size: bytes.length, ...header });
      w.appendBytes(bytes);
    }
    return {
      file_offset: BigInt(start), meta_data: {
        type: c.type, encodings: ["PLAIN"], path_in_schema: [c.name], codec: c.codec ?? "UNCOMPRESSED", num_values: BigInt(c.values ?? rows),
        total_uncompressed_size: BigInt(w.offset - start), total_compressed_size: BigInt(w.offset - start), data_page_offset: data ?? BigInt(start), dictionary_page_offset: dictionary,
      },
    };
  });
  const group = { columns: chunks, total_byte_size: 0n, num_rows: BigInt(rows) };
  const at = w.offset;
  writeMetadata(w, /** @type {any} */ ({
    version: 2, num_rows: BigInt(said), row_groups: Array(groups).fill(group),
    schema: schema ?? [{ name: "root", num_children: columns.length }, ...columns.map((c) => ({ name: c.name, type: c.type, repetition_type: c.repetition ?? "REQUIRED", ...c.element }))],
  }));
  const size = w.offset - at;
  w.appendUint32(size);
  w.appendUint32(0x31524150);
  return new Uint8Array(w.getBuffer());
}

// footed is a file with these bytes as its metadata.
/** @param {number[] | Buffer} metadata */
function footed(metadata) {
  const end = Buffer.alloc(8, "....PAR1");
  end.writeUInt32LE(metadata.length);
  return Buffer.concat([Buffer.from("PAR1...."), Buffer.from(metadata), end]);
}

const v1 = (/** @type {number} */ n, encoding = "PLAIN") => ({ type: "DATA_PAGE", data_page_header: { num_values: n, encoding, definition_level_encoding: "RLE", repetition_level_encoding: "RLE" } });
const v2 = (/** @type {number} */ n, encoding = "PLAIN", nulls = 0, levels = 0) => ({
  type: "DATA_PAGE_V2", data_page_header_v2: { num_values: n, num_nulls: nulls, num_rows: n, encoding, definition_levels_byte_length: levels, repetition_levels_byte_length: 0, is_compressed: true },
});
const dictionary = (/** @type {number} */ n) => ({ type: "DICTIONARY_PAGE", dictionary_page_header: { num_values: n, encoding: "PLAIN" } });
const word = (/** @type {number} */ n) => { const b = Buffer.alloc(4); b.writeUInt32LE(n); return b; };
const text = (/** @type {string} */ s) => Buffer.concat([word(s.length), Buffer.from(s)]);
// varint is n in groups of seven bits.
/** @param {number} n @returns {number[]} */
const varint = (n) => n < 128 ? [n] : [n % 128 + 128, ...varint(Math.floor(n / 128))];
// run is n times the value 0, or another of a byte.
const run = (/** @type {number} */ n, value = 0) => Buffer.from([...varint(2 * n), value]);
/** @param {any} header @param {Buffer} bytes @returns {Page} */
const packed = (header, bytes) => ({ header: { ...header, uncompressed_page_size: bytes.length }, bytes: zlib.gzipSync(bytes) });
// kind is a column of truths.
/** @param {number} rows @returns {Made} */
const kind = (rows) => ({ name: "kind", type: "BOOLEAN", pages: [{ header: v1(rows, "RLE"), bytes: Buffer.concat([word(run(rows).length), run(rows, 1)]) }] });

test("every encoding is read as it was written, with and without missing values", async () => {
  const n = 20_000, random = ((s) => () => (s = (s * 48271) % 2147483647) / 2147483647)(7);
  const words = Array.from({ length: n }, (_, i) => `w${Math.floor(random() * 50)}${"é".repeat(i % 3)}`), whole = Array.from({ length: n }, () => Math.floor(random() * 1000) - 500);
  const values = {
    STRING: words, INT32: whole, INT64: whole.map((v) => BigInt(v) * 4_000_000_007n), DOUBLE: whole.map((v) => v / 8), FLOAT: whole.map((v) => v / 4), BOOLEAN: whole.map((v) => v > 0),
  };
  /** @type {[keyof typeof values, string | undefined][]} */
  const ways = [["STRING", undefined], ["STRING", "PLAIN"], ["STRING", "RLE_DICTIONARY"], ["STRING", "DELTA_LENGTH_BYTE_ARRAY"], ["STRING", "DELTA_BYTE_ARRAY"], ["INT32", "PLAIN"], ["INT32", "DELTA_BINARY_PACKED"],
    ["INT32", "BYTE_STREAM_SPLIT"], ["INT64", "PLAIN"], ["INT64", "DELTA_BINARY_PACKED"], ["INT64", undefined], ["DOUBLE", "PLAIN"], ["DOUBLE", "BYTE_STREAM_SPLIT"], ["FLOAT", "PLAIN"], ["BOOLEAN", "PLAIN"], ["BOOLEAN", "RLE"]];
  for (const missing of [false, true]) {
    const columns = ways.map(([type, encoding], k) => ({ name: `${type} ${encoding} ${k}`, type, encoding, nullable: missing, data: missing ? values[type].map((v, i) => (i + k) % 7 ? v : null) : values[type] }));
    const { text } = await read(new Uint8Array(parquetWriteBuffer({ columnData: /** @type {any} */ (columns), rowGroupSize: 7000, pageSize: 5000 })));
    const lines = text.trimEnd().split("\n").slice(1);
    assert.equal(lines.length, n);
    const plain = (/** @type {unknown} */ v) => v === null ? "" : typeof v === "boolean" ? String(v).toUpperCase() : typeof v === "number" && /^-?[1-9]\d{0,2}\.\d{3}$/.test(String(v)) ? `${v}0` : String(v);
    lines.forEach((line, i) => {
      const cells = line.split(",");
      columns.forEach((c, k) => { if (cells[k] !== plain(c.data[i])) assert.fail(`row ${i} of ${c.name}, missing ${missing}: ${cells[k]}, want ${plain(c.data[i])}`); });
    });
  }
});

test("pages of the first form, with and without missing values", async () => {
  const present = Buffer.from([...varint(2 * 2 + 1), 0b10110101, 0b00000111]); // of 16, packed; nine are there
  const file = made(16, [
    { name: "x", type: "INT32", repetition: "OPTIONAL", pages: [{ header: v1(11), bytes: Buffer.concat([word(present.length), present, ...[1, 2, 3, 4, 5, 6, 7, 8].map(word)]) }, { header: v1(5), bytes: Buffer.concat([word(2), run(5, 1), ...[9, 10, 11, 12, 13].map(word)]) }] },
    { name: "s", type: "BYTE_ARRAY", element: { converted_type: "UTF8" }, pages: [{ header: dictionary(2), bytes: Buffer.concat([text("a,b"), text("c")]) }, { header: v1(16, "PLAIN_DICTIONARY"), bytes: Buffer.concat([Buffer.from([1]), run(9), Buffer.from([3, 0b01010101])]) }] },
    kind(16),
  ]);
  const { text: got } = await read(file);
  const x = [1, "", 2, "", 3, 4, "", 5, 6, 7, 8, 9, 10, 11, 12, 13], s = [...Array(9).fill('"a,b"'), "c", '"a,b"', "c", '"a,b"', "c", '"a,b"', "c"];
  assert.equal(got, `x,s,kind\n${x.map((v, i) => `${v},${s[i]},TRUE\n`).join("")}`);
});

test("two million rows of few values in one page are read, twice", async () => {
  const n = 2_000_000, letters = Buffer.alloc(n >> 2);
  for (let i = 0, s = 7; i < letters.length; i++) letters[i] = (s = (s * 48271) % 2147483647) >> 8;
  const file = made(n, [
    { name: "place", type: "BYTE_ARRAY", element: { converted_type: "UTF8" }, pages: [{ header: dictionary(4), bytes: Buffer.concat(["north", "south", "east", "west"].map(text)) }, { header: v1(n, "RLE_DICTIONARY"), bytes: Buffer.concat([Buffer.from([2, ...varint(n / 4 + 1)]), letters]) }] },
    kind(n),
  ]);
  const { size, held } = await read(file, { times: 2 });
  assert.ok(size > 2 * 10 * n, `${size} bytes`);
  assert.ok(held < 200 << 20, `${held >> 20} MB were held`);
});

// hostile are files, and what each is refused by.
/** @returns {Record<string, [Uint8Array, RegExp, boolean?]>} */
function hostile() {
  const rows = 40_000, most = 2 ** 31 - 1, repeats = /at most \d+ MB to be read of so few bytes/, utf8 = { converted_type: "UTF8" };
  const letters = Buffer.alloc(900_000, "x");
  const bomb = [packed(dictionary(1), text("x".repeat(900_000))), packed(v1(rows, "RLE_DICTIONARY"), Buffer.concat([Buffer.from([1]), run(rows)]))];
  const prefixes = [...Array(40_000).keys()].map((i) => 20 * i); // each value begins with all of the one before
  return {
    "a dictionary's text in each row": [made(rows, [{ name: "s", type: "BYTE_ARRAY", codec: "GZIP", element: utf8, pages: bomb }, kind(rows)]), repeats],
    "a thousand columns of one run": [made(8_000_000, [...Array(1000).keys()].map((i) => ({ name: `c${i}`, type: "BOOLEAN", pages: kind(8_000_000).pages }))), repeats],
    "a run of two thousand million": [made(most, [{ ...kind(most), name: "a" }, kind(most)]), repeats],
    "labels of two thousand million": [made(most, [{ name: "bytes", type: "BYTE_ARRAY", pages: bomb }, { name: "label", type: "BOOLEAN", pages: kind(most).pages }], { schema: [{ name: "root", num_children: 2 }, { name: "image", num_children: 1, repetition_type: "REQUIRED" }, { name: "bytes", type: "BYTE_ARRAY", repetition_type: "REQUIRED" }, { name: "label", type: "BOOLEAN", repetition_type: "REQUIRED" }] }), repeats],
    "nine million empty texts": [made(9_000_000, [{ name: "s", type: "BYTE_ARRAY", codec: "GZIP", element: utf8, pages: [packed(v1(9_000_000), Buffer.alloc(36_000_000))] }, kind(9_000_000)]), repeats],
    "a dictionary of twenty million": [made(9, [{ name: "s", type: "BYTE_ARRAY", codec: "GZIP", element: utf8, pages: [packed(dictionary(20_000_000), Buffer.alloc(80_000_000)), bomb[1]] }, kind(9)]), /held/, true],
    "a thousand row groups in one place": [made(rows, [{ name: "s", type: "BYTE_ARRAY", codec: "GZIP", element: utf8, pages: [packed(v1(rows), Buffer.alloc(4 * rows + 900_000))] }, kind(rows)], { groups: 1000 }), repeats],
    "pages that say they are large": [made(rows, [{ name: "x", type: "INT32", codec: "GZIP", pages: Array(9).fill({ header: { ...v1(0), uncompressed_page_size: 700 << 20 }, bytes: zlib.gzipSync("") }) }, kind(rows)]), /so few bytes|held/],
    "a page of more than there is": [made(rows, [{ name: "x", type: "INT32", pages: [{ header: { ...v1(rows), compressed_page_size: most }, bytes: letters }] }, kind(rows)]), /a page of 2147483647 bytes/],
    "a page of too many values": [made(rows, [{ name: "x", type: "INT32", pages: [{ header: v1(most), bytes: letters }] }, kind(rows)]), /a page of 2147483647 values where 40000 rows are left/],
    "values that begin as the one before": [made(40_000, [{ name: "s", type: "BYTE_ARRAY", codec: "GZIP", element: utf8, pages: [packed(v1(40_000, "DELTA_BYTE_ARRAY"), Buffer.concat([delta(prefixes), delta(prefixes.map(() => 20)), Buffer.alloc(800_000, "x")]))] }, kind(40_000)]), /so few bytes|held/],
    "a decimal of a million bytes": [made(1, [{ name: "x", type: "BYTE_ARRAY", element: { converted_type: "DECIMAL" }, pages: [{ header: v1(1), bytes: text("x".repeat(1_000_000)) }] }, kind(1)]), /a decimal of 1000000 bytes/],
    "numbers of 200 bits": [made(rows, [{ name: "s", type: "BYTE_ARRAY", pages: [{ header: dictionary(1), bytes: text("x") }, { header: v1(rows, "RLE_DICTIONARY"), bytes: Buffer.from([200, 9, 9]) }] }, kind(rows)]), /numbers of 200 bits/],
    "a place beyond the dictionary": [made(rows, [{ name: "s", type: "BYTE_ARRAY", pages: [{ header: dictionary(1), bytes: text("x") }, { header: v1(rows, "RLE_DICTIONARY"), bytes: Buffer.concat([Buffer.from([8]), run(rows, 77)]) }] }, kind(rows)]), /value 77 of a dictionary of 1/],
    "levels longer than their page": [made(rows, [{ name: "x", type: "INT32", repetition: "OPTIONAL", pages: [{ header: v1(rows), bytes: word(most) }] }, kind(rows)]), /levels of 2147483647 bytes/],
    "levels below nothing": [made(rows, [{ name: "x", type: "INT32", repetition: "OPTIONAL", pages: [{ header: v2(rows, "PLAIN", 0, -5), bytes: letters }] }, kind(rows)]), /levels of -5 bytes/],
    "a text longer than its page": [made(1, [{ name: "s", type: "BYTE_ARRAY", pages: [{ header: v1(1), bytes: word(most) }] }, kind(1)]), /a value of 2147483647 bytes/],
    "a number of a million bytes": [footed(Buffer.concat([Buffer.from([0x16]), Buffer.alloc(1_000_000, 0xff)])), /a number of more than ten bytes/],
    "a list of two thousand million": [footed([0x29, 0xfc, ...varint(most), 0]), /a list of 2147483647/],
    "lists of lists": [footed([0x29, ...Array(4000).fill([0xf9, ...varint(3000)]).flat(), ...Array(9000).fill(0)]), /nests deeply/],
    "structures within each other": [footed(Buffer.alloc(100_000, 0x1c)), /nests deeply/],
    "a million empty structures": [footed(Buffer.concat([Buffer.from([0x29, 0xfc, ...varint(1_000_000)]), Buffer.alloc(1_000_001)])), /nothing but beginnings/],
    "bytes that are not there": [footed([0x18, ...varint(most)]), /promises 2147483647 bytes more/],
    "a schema that nests": [made(1, [kind(1)], { schema: [...Array(500).fill({ name: "a", num_children: 1, repetition_type: "REQUIRED" }), { name: "kind", type: "BOOLEAN", repetition_type: "REQUIRED" }] }), /a schema that nests deeply/],
    "more rows than its row groups have": [made(rows, [kind(rows)], { said: 1_048_575 }), /1048575 rows by its metadata, and 40000 by its row groups/],
    "fewer rows than its row groups have": [made(rows, [kind(rows)], { groups: 2, said: rows }), /40000 rows by its metadata, and 80000 by its row groups/],
    "a column that says it has more values than rows": [made(rows, [{ ...kind(rows), values: most }]), /40000 rows by a row group, and 2147483647 by its column "kind"/],
    "a column of fewer values than rows": [made(rows, [{ ...kind(rows), pages: kind(9).pages }]), /a column that lacks 39991 of its values/],
    "a page behind the last row": [made(rows, [{ ...kind(rows), pages: [...kind(rows).pages, ...kind(9).pages] }]), /a page of 9 values where 0 rows are left/],
    "a column outside the file": [made(rows, [{ name: "x", type: "INT32", pages: [] }, kind(rows)]), /a column outside the file/],
  };
}

// delta is whole numbers as their differences, in blocks of 128.
/** @param {number[]} values */
function delta(values) {
  const step = values.length > 1 ? values[1] - values[0] : 0;
  return Buffer.from([...varint(128), 4, ...varint(values.length), ...varint(2 * values[0]), ...Array(Math.ceil(values.length / 128)).fill([...varint(2 * step), 0, 0, 0, 0]).flat()]);
}

test("hostile files are refused by the bound that they pass, with little memory", async (t) => {
  for (const [name, [bytes, want, whole]] of Object.entries(hostile())) {
    assert.ok(bytes.length < 1_100_000, `${name}: ${bytes.length} bytes`);
    const allowed = whole ? allowance(bytes.length) : (4 << 20) + 8 * bytes.length; // which takes less time to pass
    const before = memory(), from = performance.now();
    let size = 0, peak = 0;
    await assert.rejects(async () => {
      const file = await open(new Blob([/** @type {any} */ (bytes)]), "", allowed);
      await file.settle();
      for (let i = 0; i < 2; i++) {
        const rows = file.read();
        for (let part; (part = await rows.next());) {
          size += part.length;
          peak = Math.max(peak, memory() - before);
        }
      }
    }, (/** @type {any} */ e) => {
      peak = Math.max(peak, memory() - before);
      assert.match(e.message, want, name);
      assert.ok(e.expected && e.got && e.fix && e.message.length < 400, `${name}: ${e.stack}`);
      return true;
    });
    assert.ok(size <= allowed, `${name}: ${size} bytes were made of ${bytes.length}`);
    assert.ok(peak < 800 << 20, `${name}: ${peak >> 20} MB were held`);
    t.diagnostic(`${name}: ${bytes.length} bytes, ${size >> 20} MB made, ${peak >> 20} MB held, ${(performance.now() - from).toFixed(0)} ms`);
  }
});

test("the dictionary of ../shared/trials/attack is refused", async (t) => {
  const at = new URL("../../../shared/trials/attack/pq-dict-bomb.parquet", import.meta.url);
  if (!fs.existsSync(at)) return t.skip("../shared is not there: siblings are above");
  await assert.rejects(read(fs.readFileSync(at)), /at most \d+ MB to be read of so few bytes/);
});
