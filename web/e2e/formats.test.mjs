// Files of many kinds: what comes of them through the scripting API, in Chromium, and of
// Parquet files, which are read by JavaScript, here as well.
import assert from "node:assert/strict";
import { test } from "node:test";
import zlib from "node:zlib";
import { parquetMetadata } from "hyparquet";
import { parquetWriteBuffer } from "hyparquet-writer";
import { open as openParquet } from "../parquet.mjs";
import { stage, STILL } from "./browser.mjs";

const { visit } = await stage();

// zip is an archive of the entries, which are stored.
/** @param {Record<string, Uint8Array | string>} entries */
function zip(entries) {
  const local = [], central = [];
  let at = 0;
  for (const [name, content] of Object.entries(entries)) {
    const data = Buffer.from(content), file = Buffer.from(name), fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt32LE(zlib.crc32 ? zlib.crc32(data) : crc32(data), 10);
    fields.writeUInt32LE(data.length, 14);
    fields.writeUInt32LE(data.length, 18);
    fields.writeUInt16LE(file.length, 22);
    const head = Buffer.concat([Buffer.from("PK\x03\x04", "latin1"), fields, file, data]), tail = Buffer.alloc(14);
    tail.writeUInt32LE(at, 10);
    central.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\x00", "latin1"), fields, tail, file]));
    local.push(head);
    at += head.length;
  }
  const directory = Buffer.concat(central), end = Buffer.alloc(22);
  end.write("PK\x05\x06", 0, "latin1");
  end.writeUInt16LE(central.length, 8);
  end.writeUInt16LE(central.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...local, directory, end]);
}

/** @param {Uint8Array} b */
function crc32(b) {
  let crc = ~0;
  for (const byte of b) {
    crc ^= byte;
    for (let k = 0; k < 8; k++) crc = crc >>> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

// png is a grey picture of one shade.
/** @param {number} side @param {number} shade */
function png(side, shade) {
  const chunk = (/** @type {string} */ type, /** @type {Uint8Array} */ data) => {
    const body = Buffer.concat([Buffer.from(type), data]), length = Buffer.alloc(4), sum = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const header = Buffer.from([0, 0, 0, side, 0, 0, 0, side, 8, 0, 0, 0, 0]);
  const rows = Buffer.concat(Array.from({ length: side }, () => Buffer.from([0, ...new Uint8Array(side).fill(shade)])));
  return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), chunk("IHDR", header), chunk("IDAT", zlib.deflateSync(rows)), chunk("IEND", Buffer.alloc(0))]);
}

/** @param {string} descr @param {string} shape @param {ArrayBufferView} values */
function npy(descr, shape, values) {
  const text = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${shape}), }`, header = text + " ".repeat(63 - (text.length + 10) % 64) + "\n";
  return Buffer.concat([Buffer.from("\x93NUMPY\x01\x00", "latin1"), Buffer.from([header.length & 255, header.length >> 8]), Buffer.from(header), Buffer.from(values.buffer)]);
}

const N = 200;
const each = (/** @type {(i: number) => any} */ f) => Array.from({ length: N }, (_, i) => f(i));

function npz() {
  const x = new Uint8Array(N * 64).map((_, i) => (i >> 6) % 2 ? 200 : 20);
  const y = new Int32Array(N).map((_, i) => i % 2);
  return zip({ "x_train.npy": npy("|u1", `${N}, 8, 8`, x), "y_train.npy": npy("<i4", `${N},`, y) });
}

const pictures = () => zip(Object.fromEntries(each((i) => [`set/${i % 2 ? "bright" : "dark"}/${i}.png`, png(8 + i % 3, i % 2 ? 200 : 20)])));

function xlsx() {
  const rows = each((i) => `<row><c><v>${i / 4}</v></c><c t="inlineStr"><is><t>${i % 3 ? "red" : "blue"}</t></is></c><c t="b"><v>${i % 2}</v></c></row>`).join("");
  return zip({
    "xl/workbook.xml": `<workbook><sheets><sheet name="One" r:id="a"/></sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="a" Type="x/worksheet" Target="worksheets/one.xml"/></Relationships>`,
    "xl/worksheets/one.xml": `<worksheet><sheetData><row><c t="str"><v>width</v></c><c t="str"><v>colour</v></c><c t="str"><v>kind</v></c></row>${rows}</sheetData></worksheet>`,
  });
}

/** @param {any} [options] */
const table = (options) => Buffer.from(parquetWriteBuffer({
  columnData: [
    { name: "width", data: each((i) => i / 4), type: "DOUBLE" }, { name: "count", data: each((i) => BigInt(i % 7)), type: "INT64" },
    { name: "colour", data: each((i) => i % 3 ? "re,d" : null), type: "STRING" }, { name: "when", data: each((i) => new Date(864e5 * (20_000 + i))), type: "TIMESTAMP" },
    { name: "kind", data: each((i) => i % 2 === 0), type: "BOOLEAN" },
  ],
  rowGroupSize: 64, ...options,
}));

// hub is pictures as data sets on today's hubs have them.
const hub = () => Buffer.from(parquetWriteBuffer({
  columnData: [
    { name: "image", data: each((i) => ({ bytes: new Uint8Array(png(8, i % 2 ? 200 : 20)), path: `${i}.png` })) },
    { name: "label", data: each((i) => BigInt(i % 2)) },
  ],
  schema: [
    { name: "root", num_children: 2 }, { name: "image", repetition_type: "OPTIONAL", num_children: 2 },
    { name: "bytes", type: "BYTE_ARRAY", repetition_type: "OPTIONAL" }, { name: "path", type: "BYTE_ARRAY", converted_type: "UTF8", repetition_type: "OPTIONAL" },
    { name: "label", type: "INT64", repetition_type: "OPTIONAL" },
  ],
  kvMetadata: [{ key: "huggingface", value: JSON.stringify({ info: { features: { image: { _type: "Image" }, label: { names: ["dark", "bright"], _type: "ClassLabel" } } } }) }],
  rowGroupSize: 64,
}));

// texts are all that a Parquet file reads as.
/** @param {Uint8Array} bytes @param {string} [label] */
async function texts(bytes, label = "") {
  const file = await openParquet(new Blob([/** @type {any} */ (bytes)]), label);
  await file.settle();
  const rows = file.read(), parts = [];
  for (let part; (part = await rows.next());) parts.push(Buffer.from(part));
  return { file, read: Buffer.concat(parts), done: rows.done() };
}

// literal are packings that pack nothing, in the form of the codec; Node has gzip itself.
/** @type {Record<string, (b: Uint8Array) => Uint8Array>} */
const literal = {
  GZIP: (b) => zlib.gzipSync(b),
  LZ4_RAW: (b) => {
    const more = b.length < 15 ? [] : [...Array(Math.floor((b.length - 15) / 255)).fill(255), (b.length - 15) % 255];
    return Buffer.concat([Buffer.from([Math.min(b.length, 15) << 4, ...more]), b]);
  },
  ZSTD: (b) => {
    const head = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0, 1 | b.length << 3 & 255, b.length >> 5 & 255, b.length >> 13]);
    head.writeUInt32LE(b.length, 5);
    return Buffer.concat([head, b]);
  },
};

test("Parquet: a table is the text that it would be saved as", async () => {
  for (const codec of ["SNAPPY", "UNCOMPRESSED", ...Object.keys(literal)]) {
    const { file, read } = await texts(table({ codec, compressors: literal })), lines = read.toString().split("\n");
    assert.deepEqual([file.rows, file.pictures, file.skipped, lines.length], [N, false, [], N + 2]);
    assert.deepEqual(lines.slice(0, 3), ["width,count,colour,when,kind", "0,0,,2024-10-04,TRUE", '0.25,1,"re,d",2024-10-05,FALSE']);
  }
});

test("Parquet: pictures come with the names of their classes", async () => {
  const { file, read } = await texts(hub());
  assert.deepEqual([file.pictures, file.classes, file.rows], [true, ["dark", "bright"], N]);
  const first = png(8, 20), head = read.readUInt32LE(0);
  assert.equal(read.subarray(4, 4 + head).toString(), "dark");
  assert.deepEqual(read.subarray(8 + head, 8 + head + first.length), first);
});

test("Parquet: what no table can have is left out by name", async () => {
  const { file, read } = await texts(Buffer.from(parquetWriteBuffer({
    columnData: [{ name: "place", data: each((i) => ({ x: i })) }, { name: "note", data: each((i) => ({ i })) }, { name: "kind", data: each((i) => i % 2) }],
    schema: [
      { name: "root", num_children: 3 }, { name: "place", repetition_type: "OPTIONAL", num_children: 1 }, { name: "x", type: "INT32", repetition_type: "OPTIONAL" },
      { name: "note", type: "BYTE_ARRAY", converted_type: "JSON", repetition_type: "OPTIONAL" }, { name: "kind", type: "INT32", repetition_type: "OPTIONAL" },
    ],
  })));
  assert.deepEqual(file.skipped, ["place"]);
  assert.deepEqual(read.toString().split("\n").slice(0, 2), ["note,kind", '"{""i"":0}",0']);
});

test("Parquet: of many columns it is said how far they are read", async () => {
  const wide = Array.from({ length: 300 }, (_, k) => ({ name: `c${k}`, data: [k + 0.5, null, -k], type: /** @type {const} */ ("DOUBLE") }));
  const bytes = Buffer.from(parquetWriteBuffer({ columnData: wide, rowGroupSize: 2 }));
  const file = await openParquet(new Blob([bytes]), ""), rows = file.read(), parts = [], done = [];
  for (let part; (part = await rows.next()); done.push(rows.done())) parts.push(Buffer.from(part));
  const lines = Buffer.concat(parts).toString().trimEnd().split("\n").map((line) => line.split(","));
  assert.deepEqual(lines, [wide.map((c) => c.name), ...[0, 1, 2].map((i) => wide.map((c) => c.data[i] === null ? "" : String(c.data[i] || 0)))]);
  assert.ok(new Set(done).size > 6 && done.every((n, i) => i === 0 || n >= done[i - 1]) && done.at(-1) === bytes.length, `${done} of ${bytes.length}`);
  const late = Number(parquetMetadata(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)).row_groups[0].columns[280].meta_data.data_page_offset);
  bytes.fill(0xff, late, late + 9); // the head of a page, far behind the first columns
  await assert.rejects(texts(bytes), (/** @type {any} */ e) => Boolean(e.expected && e.fix));
});

test("Parquet: Brotli is refused by its name", async () => {
  await assert.rejects(texts(table({ codec: "BROTLI", compressors: { BROTLI: (/** @type {Uint8Array} */ b) => zlib.brotliCompressSync(b) } })), /one packed by Brotli/);
});

test("Parquet: files that lie are refused, soon and in words", async () => {
  const good = table(), end = good.length;
  /** @type {[string, Uint8Array][]} */
  const bad = [["nothing", Buffer.alloc(0)], ["the magic alone", Buffer.from("PAR1")], ["twice the magic", Buffer.from("PAR1PAR1")]];
  for (let i = 1; i <= 12; i++) bad.push([`cut to ${i}/13`, good.subarray(0, Math.floor(end * i / 13))]);
  for (const length of [0, 1, 0xffff, 0x7fffffff, 0xffffffff]) {
    const b = Buffer.from(good);
    b.writeUInt32LE(length, end - 8);
    bad.push([`metadata of ${length} bytes`, b]);
  }
  for (let i = 0; i < 40; i++) { // damage all over, most of it in the metadata
    const b = Buffer.from(good), at = i % 2 ? Math.floor(end * i / 40) : end - 9 - i * 7;
    b.fill(i % 3 ? 0xff : 0x7f, at, Math.min(at + 9, end - 8));
    bad.push([`damage at ${at}`, b]);
  }
  let refused = 0;
  for (const [name, b] of bad) {
    try {
      assert.ok((await texts(b)).read.length < 1e6, name); // what is damaged may still be a table
    } catch (e) {
      assert.ok(e.expected && e.got && e.fix && e.message.length < 600, `${name}: ${e.stack}`);
      refused++;
    }
  }
  assert.ok(refused >= 45, `${refused} of ${bad.length} are refused`);
});

test("every kind of file is opened and trained on", async (t) => {
  const page = await visit(t, STILL);
  const book = xlsx();
  /** @type {[string, Buffer, any][]} */
  const files = [
    ["mnist.npz", npz(), { format: "numpy", shape: [8, 8], classes: ["0", "1"] }],
    ["pictures.zip", pictures(), { format: "pictures", shape: [8, 8], classes: ["bright", "dark"] }],
    ["book.xlsx", book, { format: "xlsx", classes: ["FALSE", "TRUE"] }],
    ["train.parquet", table(), { format: "parquet", classes: ["FALSE", "TRUE"] }],
    ["train-00000.parquet", hub(), { format: "parquet", shape: [8, 8], classes: ["dark", "bright"] }],
  ];
  for (const [name, bytes, want] of files) {
    const got = await page.evaluate(async ([name, text]) => {
      const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0)), api = /** @type {any} */ (window).clipscope;
      await api.ready;
      const seen = [];
      const data = await api.open({ train: [new File([bytes], name)] }, { missing: "zero" }, (p) => seen.push(p));
      const run = await api.train({ steps: 20, noise_multiplier: 1, model: { kind: "softmax" } }, data, { anyway: true });
      const result = await run.done;
      const { format, shape, classes, rows, test_rows: held } = data.summary;
      data.close();
      return { format, shape, classes, rows, held, steps: result.steps, seen: seen.length };
    }, [name, bytes.toString("base64")]);
    assert.deepEqual({ shape: undefined, ...want }, { format: got.format, shape: got.shape, classes: got.classes }, name);
    assert.deepEqual([got.rows, got.held, got.steps], [N * 0.8, N * 0.2, 20], name);
    assert.ok(got.seen > 0, name);
  }
  // A model answers a Parquet file as it does the same rows in CSV.
  const [told, exam, csv] = await page.evaluate(async ([parquet, text]) => {
    const api = /** @type {any} */ (window).clipscope, file = new File([Uint8Array.from(atob(parquet), (c) => c.charCodeAt(0))], "rows.parquet");
    const run = await api.train({ csv: { missing: "zero" }, steps: 20, noise_multiplier: 1, model: { kind: "softmax" } }, { train: [file] }, { anyway: true });
    const model = await api.load(await run.done), blobs = await Promise.all([model.predict(file), model.predict(new File([atob(text)], "rows.csv"))]);
    const exam = await model.evaluate([file]);
    model.dispose();
    return [await blobs[0].text(), [exam.test_rows, exam.problems], await blobs[1].text()];
  }, [table().toString("base64"), (await texts(table())).read.toString("base64")]);
  assert.equal(told, csv);
  assert.deepEqual(exam, [N, 0]);
  assert.match(told, /^width,count,colour,when,kind,answer,p\(FALSE\),p\(TRUE\),problem\n0,0,,2024-10-04,TRUE,(TRUE|FALSE),/);
  // A folder keeps its folders, and is one file to the ledger.
  const folder = await page.evaluate(async (shades) => {
    const api = /** @type {any} */ (window).clipscope;
    const files = shades.map((text, i) => {
      const file = new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], `${i}.png`);
      Object.defineProperty(file, "webkitRelativePath", { value: `top/${i % 2 ? "b" : "a"}/${i}.png` });
      return file;
    });
    const data = await api.open({ train: files });
    const { name, format, classes, files: roles } = data.summary;
    data.close();
    return { name, format, classes, roles };
  }, Array.from({ length: 20 }, (_, i) => png(8, i * 9).toString("base64")));
  assert.deepEqual(folder, { name: "top", format: "pictures", classes: ["a", "b"], roles: [{ name: "top", role: "train" }] });
  const refusal = await page.evaluate(async (text) => {
    try {
      await /** @type {any} */ (window).clipscope.open({ train: [new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], "cut.parquet")] });
      return "";
    } catch (e) {
      return e.message;
    }
  }, Buffer.concat([table().subarray(0, 900), Buffer.from("\xff\xff\xff\x7fPAR1", "latin1")]).toString("base64"));
  assert.match(refusal, /^cut\.parquet: expected a sound Parquet file, found metadata of 2147483647 bytes\. Download/);
  assert.deepEqual(page.errors, []);
});
