// Reads Parquet files in the trainer's worker: hyparquet's decoding, as the streams that
// core/data takes (see Columns there). It is loaded when the first such file is opened.
// Nothing that a file says of sizes is believed before it has been compared with what it
// can hold.
import { parquetMetadataAsync, parquetRead, parquetSchema } from "hyparquet";
import { parquetHeader } from "hyparquet/src/column.js";
import { snappyUncompress } from "hyparquet/src/snappy.js";
import { gunzip } from "hyparquet-compressors/src/gzip.js";
import { decompressLz4, decompressLz4Raw } from "hyparquet-compressors/src/lz4.js";
import { decompress } from "fzstd";

const FOOTER = 16 << 20; // bytes of metadata that are read
const GROUP = 512 << 20; // bytes of a row group, unpacked
const ROWS = 8_000_000; // of a row group
const CHUNK = 1 << 20; // about so many bytes of text at a time
// So many columns, or bytes of them, are read and unpacked at a time: a fraction of a second.
const COLUMNS = 128;
const BATCH = 4 << 20;

// nothing is what a reader gives while there is nothing to give yet, so that whoever reads
// can say how far it is.
const nothing = new Uint8Array();

/** @typedef {{ byteLength: number, slice(start: number, end?: number): Promise<ArrayBuffer> }} Source */
/** @typedef {{ column: import("hyparquet").ColumnChunk, start: number, end: number }} Chunk of a column, and where it stands */

// Fault is what the file's owner can do something about.
export class Fault extends Error {
  /** @param {string} expected @param {string} got @param {string} fix */
  constructor(expected, got, fix) {
    super(`expected ${expected}, found ${got}`);
    Object.assign(this, { expected, got, fix });
  }
}

const AGAIN = "Download or save the file again: it is damaged, or is not what it says.";
const damaged = (/** @type {string} */ got) => new Fault("a sound Parquet file", got, AGAIN);

/** @type {import("hyparquet").Compressors} */
const compressors = {
  SNAPPY: (input, length) => {
    const output = new Uint8Array(length);
    snappyUncompress(input, output);
    return output;
  },
  GZIP: (input, length) => gunzip(input, new Uint8Array(length)),
  ZSTD: (input, length) => decompress(input, new Uint8Array(length)),
  LZ4: decompressLz4,
  LZ4_RAW: decompressLz4Raw,
  BROTLI: () => {
    throw new Fault("a file packed by Snappy, gzip, Zstandard or LZ4, or not at all", "one packed by Brotli", "Save the file with another compression.");
  },
};

// What label columns are usually called, the likeliest first.
const LABELS = ["label", "labels", "fine_label", "class", "target", "y"];

// open reads the metadata of a file. label names the column of the labels of pictures.
/** @param {Blob} blob @param {string} label */
export async function open(blob, label) {
  const at = (/** @type {number} */ start, /** @type {number} */ end) => blob.slice(start, end).arrayBuffer();
  const end = new DataView(await at(blob.size - 8, blob.size));
  if (blob.size < 12 || end.getUint32(4, true) !== 0x31524150) throw damaged("a file that does not end as one does");
  if (end.getUint32(0, true) > Math.min(FOOTER, blob.size - 12)) throw damaged(`metadata of ${end.getUint32(0, true)} bytes`);
  /** @type {Source} */
  const source = { byteLength: blob.size, slice: (start, end = blob.size) => at(start, end) };
  const metadata = await guarded(() => parquetMetadataAsync(source, { geoparquet: false }));
  return new File(source, metadata, label);
}

// guarded makes the library's errors, which may be any, faults of the file.
/** @template T @param {() => Promise<T>} f @returns {Promise<T>} */
async function guarded(f) {
  try {
    return await f();
  } catch (e) {
    throw e instanceof Fault ? e : damaged(`what cannot be read (${String(e?.message ?? e).slice(0, 200)})`);
  }
}

// result is what a generator returns.
/** @template T @param {AsyncGenerator<unknown, T>} generator @returns {Promise<T>} */
async function result(generator) {
  for (;;) {
    const step = await generator.next();
    if (step.done) return step.value;
  }
}

class File {
  #source;
  #metadata;
  /** @type {string[]} */
  #columns = [];
  /** @type {Map<string, [number, number]>} */
  #places = new Map(); // of columns, in the list of the schema: from, to
  /** @type {Map<string, string[]>} */
  #names = new Map(); // of classes, by column
  /** @type {string | undefined} */
  #image; // the column of pictures
  #label = "";
  /** @type {string[]} */
  skipped = [];
  /** @type {string[]} */
  classes = [];
  rows = 0;

  /** @param {Source} source @param {import("hyparquet").FileMetaData} metadata @param {string} label */
  constructor(source, metadata, label) {
    this.#source = source;
    this.#metadata = metadata;
    this.rows = Number(metadata.num_rows);
    const features = hub(metadata);
    for (const [name, f] of Object.entries(features)) {
      if (f?._type === "ClassLabel" && Array.isArray(f.names) && f.names.length <= 1000) this.#names.set(name, f.names.map((/** @type {unknown} */ n) => String(n).slice(0, 200)));
    }
    const all = parquetSchema(metadata).children;
    const nested = all.filter((c) => c.children.length > 0 || c.element.repetition_type === "REPEATED");
    this.#image = nested.find((c) => c.children.some((b) => b.element.name === "bytes" && b.element.type === "BYTE_ARRAY") && c.element.repetition_type !== "REPEATED")?.element.name
      ?? all.find((c) => features[c.element.name]?._type === "Image" && c.element.type === "BYTE_ARRAY")?.element.name;
    let place = 1;
    for (const c of all) this.#places.set(c.element.name, [place, place += c.count]);
    const names = all.map((c) => c.element.name), twice = names.find(((seen) => (name) => seen.size === seen.add(name).size)(new Set()));
    if (twice !== undefined) throw new Fault("a name of its own for each column", `the name ${JSON.stringify(twice.slice(0, 40))} again`, "Rename one of the two columns.");
    const plain = all.filter((c) => !nested.includes(c)).map((c) => c.element.name);
    if (this.#image === undefined) {
      this.#columns = plain;
      this.skipped = nested.map((c) => c.element.name);
      if (plain.length === 0) throw new Fault("columns of numbers or text", "none", "Save the table as one of plain columns.");
      return;
    }
    const usable = plain.filter((name) => name !== this.#image);
    this.#label = [label, ...LABELS, ...this.#names.keys()].find((name) => name && usable.includes(name)) ?? "";
    if (!this.#label) throw new Fault("a column of labels beside the pictures", usable.slice(0, 8).join(", ") || "none", "Choose the label column.");
    this.#columns = [this.#image, this.#label];
  }

  get pictures() { return this.#image !== undefined; }

  // settle reads the names of the classes, where the metadata has none.
  async settle() {
    if (!this.pictures) return;
    this.classes = this.#names.get(this.#label) ?? [];
    if (this.classes.length) return;
    const seen = new Set();
    for (let g = 0; g < this.#metadata.row_groups.length; g++) {
      const next = await result(this.#group(g, [this.#label]));
      for (let row; (row = next());) {
        const text = word(row[0]);
        if (text !== "") seen.add(text);
        if (seen.size > 1000) throw new Fault("at most 1000 classes", "more", "Choose another label column, or regression as the task.");
      }
    }
    this.classes = [...seen].sort((a, b) => Number(a) - Number(b) || (a < b ? -1 : 1));
  }

  // read returns a function that gives the next bytes of the rows, none where it is not that
  // far, and null after the last.
  read() {
    const stream = this.pictures ? this.#frames() : this.#text();
    const next = async () => (await guarded(() => stream.next())).value ?? null;
    const used = new Set(this.#columns), size = this.#source.byteLength;
    const all = this.#metadata.row_groups.flatMap((g) => g.columns).reduce((sum, { meta_data: m }) => sum + (m && used.has(m.path_in_schema[0]) ? Number(m.total_compressed_size) : 0), 0);
    // Reading columns and giving their rows is half of it each. What is not read, such as
    // other columns and the metadata, is not waited for.
    return { next, done: () => Math.min(size, Math.round(size * (this.#read + this.#given) / (2 * all))) || 0 };
  }

  #read = 0; // bytes of columns that were read and unpacked
  #given = 0; // and of which the rows were given

  // #group reads the rows of a row group: a function that gives the rows one after the
  // other, their values in the order of columns, and then undefined. It is a generator of
  // nothing, for columns can be many.
  /** @param {number} index @param {string[]} columns @returns {AsyncGenerator<Uint8Array, () => unknown[] | undefined>} */
  async * #group(index, columns) {
    const group = this.#metadata.row_groups[index], rows = Number(group.num_rows);
    if (!(rows >= 0 && rows <= this.rows)) throw damaged(`a row group of ${rows} rows`);
    if (rows > ROWS) throw new Fault(`row groups of at most ${ROWS} rows`, "a larger one", "Save the file with smaller row groups.");
    /** @type {Map<string, Chunk[]>} */
    const chunks = new Map();
    for (const column of group.columns) {
      const m = column.meta_data;
      if (!m) continue;
      const start = Number(m.dictionary_page_offset && m.dictionary_page_offset < m.data_page_offset ? m.dictionary_page_offset : m.data_page_offset);
      const name = m.path_in_schema[0], chunk = { column, start, end: start + Number(m.total_compressed_size) };
      chunks.set(name, [...chunks.get(name) ?? [], chunk]);
    }
    /** @type {ArrayLike<unknown>[][]} */
    const parts = [];
    let unpacked = 0;
    for (let at = 0; at < columns.length;) {
      /** @type {Chunk[]} */
      const batch = [], from = at;
      for (let packed = 0; at < columns.length && at - from < COLUMNS && packed < BATCH; at++) {
        for (const chunk of chunks.get(columns[at]) ?? []) {
          if (!(chunk.start >= 4 && chunk.end > chunk.start && chunk.end <= this.#source.byteLength)) throw damaged("a column outside the file");
          packed += chunk.end - chunk.start;
          batch.push(chunk);
        }
      }
      const bytes = await this.#bytes(batch);
      for (const chunk of bytes.values()) unpacked += measure(chunk, rows);
      if (unpacked > GROUP) throw new Fault(`row groups of at most ${GROUP >> 20} MB`, "a larger one", "Save the file with smaller row groups.");
      parts.push(...await this.#values(group, columns.slice(from, at), batch, bytes));
      this.#read += batch.reduce((sum, c) => sum + c.end - c.start, 0);
      yield nothing;
    }
    for (const part of parts) {
      const have = part.reduce((sum, p) => sum + p.length, 0);
      if (have < rows) throw damaged(`${have} values where ${rows} are promised`);
    }
    const at = columns.map(() => 0);
    let row = 0;
    return () => row++ === rows ? undefined : parts.map((part, c) => {
      while (at[c] === part[0].length) {
        part.shift();
        at[c] = 0;
      }
      return part[0][at[c]++];
    });
  }

  // #bytes are those of chunks, by their places: in one go where they stand together, for
  // each one takes a message to the browser.
  /** @param {Chunk[]} chunks @returns {Promise<Map<string, ArrayBuffer>>} */
  async #bytes(chunks) {
    const start = Math.min(...chunks.map((c) => c.start)), end = Math.max(...chunks.map((c) => c.end));
    const near = end - start <= 2 * BATCH;
    const all = near && chunks.length ? await this.#source.slice(start, end) : undefined;
    /** @type {Map<string, ArrayBuffer>} */
    const bytes = new Map();
    for (const c of chunks) bytes.set(`${c.start}-${c.end}`, all ? all.slice(c.start - start, c.end - start) : await this.#source.slice(c.start, c.end));
    return bytes;
  }

  // #values are those of some columns of a row group, in parts. The library looks for each
  // column in what the metadata lists, so it is given these alone.
  /** @param {import("hyparquet").RowGroup} group @param {string[]} columns @param {Chunk[]} chunks @param {Map<string, ArrayBuffer>} bytes */
  async #values(group, columns, chunks, bytes) {
    const schema = [{ ...this.#metadata.schema[0], num_children: columns.length }, ...columns.flatMap((name) => this.#metadata.schema.slice(...this.#places.get(name) ?? []))];
    const metadata = { ...this.#metadata, schema, num_rows: group.num_rows, row_groups: [{ ...group, columns: chunks.map((c) => c.column) }] };
    /** @type {Source} */
    const file = { byteLength: this.#source.byteLength, slice: async (start, end = this.#source.byteLength) => bytes.get(`${start}-${end}`) ?? this.#source.slice(start, end) };
    /** @type {ArrayLike<unknown>[][]} */
    const parts = columns.map(() => []);
    await parquetRead({
      file, metadata, columns, compressors, utf8: !this.pictures, rowEnd: Number(group.num_rows), useOffsetIndex: false,
      onChunk: ({ columnName, columnData }) => { parts[columns.indexOf(columnName)].push(columnData); },
    });
    return parts;
  }

  async * #text() {
    const encoder = new TextEncoder();
    this.#read = this.#given = 0;
    yield encoder.encode(this.#columns.map(cell).join(",") + "\n"); // of too many it is refused
    let text = "";
    for (let g = 0; g < this.#metadata.row_groups.length; g++) {
      const next = yield* this.#group(g, this.#columns), size = this.#read - this.#given, rows = Number(this.#metadata.row_groups[g].num_rows);
      for (let row; (row = next());) {
        this.#given += size / rows;
        text += row.map((value, c) => cell(this.#named(this.#columns[c], value))).join(",") + "\n";
        if (text.length > CHUNK) {
          yield encoder.encode(text);
          text = "";
        }
      }
    }
    if (text) yield encoder.encode(text);
  }

  async * #frames() {
    const encoder = new TextEncoder();
    this.#read = this.#given = 0;
    for (let g = 0; g < this.#metadata.row_groups.length; g++) {
      const next = yield* this.#group(g, this.#columns), size = this.#read - this.#given, rows = Number(this.#metadata.row_groups[g].num_rows);
      for (let row; (row = next());) {
        this.#given += size / rows;
        const picture = /** @type {any} */ (row[0]), named = this.#named(this.#label, row[1]);
        const bytes = picture instanceof Uint8Array ? picture : picture?.bytes instanceof Uint8Array ? picture.bytes : new Uint8Array();
        const label = encoder.encode(named), frame = new Uint8Array(8 + label.length + bytes.length), view = new DataView(frame.buffer);
        view.setUint32(0, label.length, true);
        frame.set(label, 4);
        view.setUint32(4 + label.length, bytes.length, true);
        frame.set(bytes, 8 + label.length);
        yield frame;
      }
    }
  }

  // #named is a value as text, a class by its name.
  /** @param {string} column @param {unknown} value */
  #named(column, value) {
    return (typeof value === "bigint" || typeof value === "number" ? this.#names.get(column)?.[Number(value)] : undefined) ?? word(value);
  }
}

// hub are the features that the metadata of a data set from Hugging Face lists.
/** @param {import("hyparquet").FileMetaData} metadata @returns {Record<string, any>} */
function hub(metadata) {
  const text = metadata.key_value_metadata?.find((kv) => kv.key === "huggingface")?.value;
  try {
    const features = JSON.parse(text ?? "{}")?.info?.features;
    return features && typeof features === "object" ? features : {};
  } catch { // it is not needed
    return {};
  }
}

// measure compares what the pages of a column say of themselves with what they can hold, and
// is how many bytes they are unpacked to.
/** @param {ArrayBuffer} chunk @param {number} rows */
function measure(chunk, rows) {
  const view = new DataView(chunk), reader = { view, offset: 0 };
  let unpacked = 0, values = 0;
  while (reader.offset < view.byteLength - 1 && values < rows) {
    const h = parquetHeader(reader), size = Number(h.uncompressed_page_size), packed = Number(h.compressed_page_size);
    if (!(packed >= 0 && packed <= view.byteLength - reader.offset && size >= 0 && size <= GROUP)) throw damaged(`a page of ${packed} bytes that are unpacked to ${size}`);
    const n = Number(h.data_page_header?.num_values ?? h.data_page_header_v2?.num_values ?? 0), listed = Number(h.dictionary_page_header?.num_values ?? 0);
    values += n;
    if (!(n >= 0 && values <= rows && listed >= 0 && listed <= size)) throw damaged(`a page of ${n || listed} values in ${rows} rows`);
    unpacked += size;
    reader.offset += packed;
  }
  if (values !== rows) throw damaged(`${values} values where ${rows} rows are promised`);
  return unpacked;
}

// word is a value as a table's text has it; empty where there is none.
/** @param {unknown} value */
function word(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return value ? "TRUE" : "FALSE";
  if (value instanceof Date) {
    if (isNaN(value.getTime())) return "";
    const text = value.toISOString();
    return text.endsWith("T00:00:00.000Z") ? text.slice(0, -14) : text.slice(0, 19);
  }
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  if (typeof value === "number") return pointed(String(value));
  return typeof value === "object" ? JSON.stringify(value, (_, v) => typeof v === "bigint" ? Number(v) : v) : String(value);
}

// pointed is a number whose point cannot be taken for a mark between thousands, whatever the
// texts beside it look like.
/** @param {string} number */
const pointed = (number) => /^-?[1-9]\d{0,2}\.\d{3}$/.test(number) ? number + "0" : number;

/** @param {string} text */
function cell(text) {
  return /[,"\r\n]/.test(text) ? '"' + text.replace(/["]/g, '""').replace(/[\r\n]/g, " ") + '"' : text;
}
