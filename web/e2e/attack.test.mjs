// A few kilobytes that ask for hours, or for all memory, put to the page in both browsers: each
// is refused by the bound that it passes, in words, and the page goes on. What core/data and
// web/parquet.mjs make of more such files is tried without a browser (TestAttacks, parquet.test.mjs).
import assert from "node:assert/strict";
import { test } from "node:test";
import zlib from "node:zlib";
import { parquetWriteBuffer } from "hyparquet-writer";
import { ready, stage, STILL } from "./browser.mjs";
import { missing, sharedFirefox } from "./firefox.mjs";

const { server, visit } = await stage();
const firefox = sharedFirefox({});

// zip is an archive of files by their names.
/** @param {Record<string, string | Buffer>} files */
function zip(files) {
  const parts = [], directory = [];
  let at = 0;
  for (const [name, content] of Object.entries(files)) {
    const raw = Buffer.from(/** @type {any} */ (content)), packed = zlib.deflateRawSync(raw), crc = crc32(raw), title = Buffer.from(name);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(8, 4);
    fields.writeUInt32LE(crc, 10);
    fields.writeUInt32LE(packed.length, 14);
    fields.writeUInt32LE(raw.length, 18);
    fields.writeUInt16LE(title.length, 22);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(at, 10);
    parts.push(Buffer.from("PK\x03\x04", "latin1"), fields, title, packed);
    directory.push(Buffer.from("PK\x01\x02\x14\x00", "latin1"), fields, place, title);
    at += 30 + title.length + packed.length;
  }
  const list = Buffer.concat(directory), end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(Object.keys(files).length, 8);
  end.writeUInt16LE(Object.keys(files).length, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, list, end]);
}

/** @param {Buffer} b */
function crc32(b) {
  let crc = ~0;
  for (const c of b) {
    crc ^= c;
    for (let i = 0; i < 8; i++) crc = crc >>> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

// book is a spreadsheet of rows and of the texts that cells share.
/** @param {string} rows @param {string} text */
const book = (rows, text) => zip({
  "xl/workbook.xml": `<workbook><sheets><sheet name="One" r:id="a"/></sheets></workbook>`,
  "xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="a" Type="x/worksheet" Target="worksheets/one.xml"/></Relationships>`,
  "xl/worksheets/one.xml": `<worksheet><sheetData>${rows}</sheetData></worksheet>`,
  "xl/sharedStrings.xml": `<sst><si><t>${text}</t></si></sst>`,
});

const shared = `<c t="s"><v>0</v></c>`, dot = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==", "base64");
/** @returns {[string, Buffer, RegExp][]} */
const attacks = () => [
  ["cells.xlsx", book(`<row>${shared.repeat(1000)}</row>`, "x".repeat(3 << 20)), /rows of at most 4 MB of text/],
  ["rows.xlsx", book(`<row>${shared}<c><v>1</v></c></row>`.repeat(3000), "x".repeat(900_000)), /MB to be read of so few bytes/],
  ["slashes.zip", zip({ "a/1.png": dot, "b/2.png": dot, "labels.csv": `filename,label\n1.png,a\n2.png,b\n${"a/".repeat(2_000_000)},x\n` }), /names of pictures of at most 65535 bytes/],
  ["dictionary.parquet", Buffer.from(parquetWriteBuffer({ columnData: [{ name: "s", data: Array(40_000).fill("x".repeat(300_000)), type: "STRING" }, { name: "kind", data: Array.from({ length: 40_000 }, (_, i) => i % 3 === 0), type: "BOOLEAN" }] })), /MB to be read of so few bytes/],
];

// refused are the files opened one after the other, and what is said of each.
/** @param {any} page @param {any} t */
async function refused(page, t) {
  for (const [name, bytes, want] of attacks()) {
    const { error, ms, silent } = await page.evaluate(async ([name, text]) => {
      const api = /** @type {any} */ (window).clipscope, from = performance.now();
      let last = from, silent = 0;
      const heard = () => {
        silent = Math.max(silent, performance.now() - last);
        last = performance.now();
      };
      try {
        await api.open({ train: [new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], name)] }, {}, heard);
        return { error: "", ms: 0, silent };
      } catch (e) {
        heard();
        return { error: String(e.message), ms: performance.now() - from, silent };
      }
    }, [name, bytes.toString("base64")]);
    assert.match(error, want, name);
    t.diagnostic(`${name}, ${bytes.length} bytes: refused after ${ms.toFixed(0)} ms, ${silent.toFixed(0)} without a word`);
  }
  assert.ok(await page.evaluate(() => /** @type {any} */ (window).clipscope.epsilon({ noise_multiplier: 1, sample_rate: 0.01, steps: 10, target_delta: 1e-5 })) > 0.2);
  assert.deepEqual(page.errors, []);
}

test("a few kilobytes that ask for hours are refused, Chromium", async (t) => refused(await visit(t, STILL), t));

test("a few kilobytes that ask for hours are refused, Firefox", { skip: missing }, async (t) => {
  const page = await (await firefox()).page(server.url, t);
  await ready(page);
  await refused(page, t);
});
