// Reads Parquet files in the trainer's worker: hyparquet's decoding, as the streams that
// core/data/source takes (see Columns there). It is loaded when the first such file is opened.
// Nothing that a file says of sizes is believed before it has been compared with what it
// can hold, and no more is made of it than core/data/source allows (see Allowance there). Of a row
// group, the packed bytes are held and of each column a page; values are made a block at a time.
import { parquetMetadataAsync, parquetSchema } from "hyparquet";
import { parquetHeader } from "hyparquet/src/column.js";
import { DEFAULT_PARSERS, convert } from "hyparquet/src/convert.js";
import { decompressPage } from "hyparquet/src/datapage.js";
import { deltaBinaryUnpack, deltaLengthByteArray } from "hyparquet/src/delta.js";
import { byteStreamSplit } from "hyparquet/src/encoding.js";
import { readPlain } from "hyparquet/src/plain.js";
import { snappyUncompress } from "hyparquet/src/snappy.js";
import { gunzip } from "hyparquet-compressors/src/gzip.js";
import { decompressLz4, decompressLz4Raw } from "hyparquet-compressors/src/lz4.js";
import { decompress } from "fzstd";

const FOOTER = 16 << 20; // bytes of metadata that are read
const HELD = 768 << 20; // bytes of a row group that are held at a time: packed, and a page of each column unpacked
const DEPTH = 24; // of what stands within each other in metadata and in the schema
const BLOCK = 8192; // values of a column that are made at a time
const CHUNK = 1 << 20; // about so many bytes of text at a time
// So many columns, or bytes of them, are read and unpacked at a time: a fraction of a second.
const COLUMNS = 128;
const BATCH = 4 << 20;

// nothing is what a reader gives while there is nothing to give yet, so that whoever reads
// can say how far it is.
const nothing = new Uint8Array();

/** @typedef {{ byteLength: number, slice(start: number, end?: number): Promise<ArrayBuffer> }} Source */
/** @typedef {{ column: import("hyparquet").ColumnChunk, start: number, end: number }} Chunk of a column, and where it stands */
/** @typedef {{ path: string[], element: import("hyparquet").SchemaElement, levels: number }} Leaf of the schema, and how many of its path may be missing */

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

// open reads the metadata of a file. label names the column of the labels of pictures, and
// allowed is how many bytes may be made of the file.
/** @param {Blob} blob @param {string} label */
export async function open(blob, label, allowed = Infinity) {
  const at = (/** @type {number} */ start, /** @type {number} */ end) => blob.slice(start, end).arrayBuffer();
  const end = new DataView(await at(blob.size - 8, blob.size));
  if (blob.size < 12 || end.getUint32(4, true) !== 0x31524150) throw damaged("a file that does not end as one does");
  const size = end.getUint32(0, true);
  if (size > Math.min(FOOTER, blob.size - 12)) throw damaged(`metadata of ${size} bytes`);
  const footer = new DataView(await at(blob.size - 8 - size, blob.size - 8));
  structure(footer, 0);
  /** @type {Source} */
  const source = { byteLength: blob.size, slice: (start, end = blob.size) => at(start, end) };
  const metadata = await guarded(() => parquetMetadataAsync(source, { geoparquet: false }));
  return guarded(async () => new File(source, metadata, label, allowed));
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
  #allowed;
  #left;
  /** @type {string[]} */
  #columns = [];
  /** @type {Map<string, Leaf>} */
  #leaves = new Map(); // by the column that they are of
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

  /** @param {Source} source @param {import("hyparquet").FileMetaData} metadata @param {string} label @param {number} allowed */
  constructor(source, metadata, label, allowed) {
    this.#source = source;
    this.#metadata = metadata;
    this.#allowed = this.#left = allowed;
    this.rows = Number(metadata.num_rows);
    if (!(this.rows >= 0 && this.rows <= Number.MAX_SAFE_INTEGER)) throw damaged(`a table of ${this.rows} rows`);
    const grouped = metadata.row_groups.reduce((sum, g) => sum + Number(g.num_rows), 0);
    if (grouped !== this.rows) throw damaged(`${this.rows} rows by its metadata, and ${grouped} by its row groups`);
    shallow(metadata.schema);
    const features = hub(metadata);
    for (const [name, f] of Object.entries(features)) {
      if (f?._type === "ClassLabel" && Array.isArray(f.names) && f.names.length <= 1000) this.#names.set(name, f.names.map((/** @type {unknown} */ n) => String(n).slice(0, 200)));
    }
    const all = parquetSchema(metadata).children, names = all.map((c) => c.element.name);
    const twice = names.find(((seen) => (name) => seen.size === seen.add(name).size)(new Set()));
    if (twice !== undefined) throw new Fault("a name of its own for each column", `the name ${JSON.stringify(twice.slice(0, 40))} again`, "Rename one of the two columns.");
    /** @type {string[]} */
    const plain = [];
    for (const c of all) {
      /** @param {{ element: { repetition_type?: string } }} column */
      const repeated = ({ element }) => element.repetition_type === "REPEATED";
      const bytes = repeated(c) ? undefined : c.children.find((b) => b.element.name === "bytes" && b.element.type === "BYTE_ARRAY" && !repeated(b));
      const optional = (/** @type {import("hyparquet").SchemaElement} */ e) => e.repetition_type === "OPTIONAL" ? 1 : 0;
      if (bytes) {
        this.#image ??= c.element.name;
        this.#leaves.set(c.element.name, { path: [c.element.name, "bytes"], element: bytes.element, levels: optional(c.element) + optional(bytes.element) });
      } else if (c.children.length || c.element.repetition_type === "REPEATED" || /^GEO/.test(c.element.logical_type?.type ?? "")) {
        this.skipped.push(c.element.name);
      } else {
        plain.push(c.element.name);
        this.#leaves.set(c.element.name, { path: [c.element.name], element: c.element, levels: optional(c.element) });
      }
    }
    this.#image ??= all.find((c) => features[c.element.name]?._type === "Image" && c.element.type === "BYTE_ARRAY" && this.#leaves.has(c.element.name))?.element.name;
    if (this.#image === undefined) {
      this.#columns = plain;
      if (plain.length === 0) throw new Fault("columns of numbers or text", "none", "Save the table as one of plain columns.");
      return;
    }
    this.skipped = [];
    const usable = new Set(plain.filter((name) => name !== this.#image));
    this.#label = [label, ...LABELS, ...this.#names.keys()].find((name) => name && usable.has(name)) ?? "";
    if (!this.#label) throw new Fault("a column of labels beside the pictures", [...usable].slice(0, 8).join(", ") || "none", "Choose the label column.");
    this.#columns = [this.#image, this.#label];
  }

  // #spend counts n bytes that are made of the file.
  /** @param {number} n */
  #spend(n) {
    if ((this.#left -= n) >= 0) return;
    throw new Fault(`at most ${Math.floor(this.#allowed / 2 ** 20)} MB to be read of so few bytes`, "more: they repeat something again and again",
      (this.pictures ? "Save the pictures as files, in a folder for each class" : "Save the data again as plain CSV") + ", or check where the file comes from.");
  }

  get pictures() { return this.#image !== undefined; }

  // text says whether a column, of those that are read, is stored as texts.
  /** @param {number} i */
  text(i) {
    const element = this.#leaves.get(this.#columns[i])?.element;
    return element?.logical_type?.type === "STRING" || element?.converted_type === "UTF8";
  }

  // settle reads the names of the classes, where the metadata has none.
  async settle() {
    if (!this.pictures) return;
    this.classes = this.#names.get(this.#label) ?? [];
    if (this.classes.length === 0) await guarded(() => this.#classify());
  }

  async #classify() {
    const seen = new Set();
    for (let g = 0; g < this.#metadata.row_groups.length; g++) {
      const next = await result(this.#group(g, [this.#label]));
      for (let row; (row = next());) {
        const text = word(row[0]);
        this.#spend(1 + text.length);
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
  // other, their values in the order of columns, which hold until the next, and then undefined. It is a generator of
  // nothing, for columns can be many.
  /** @param {number} index @param {string[]} columns @returns {AsyncGenerator<Uint8Array, () => unknown[] | undefined>} */
  async * #group(index, columns) {
    const group = this.#metadata.row_groups[index], rows = Number(group.num_rows);
    if (!(rows >= 0 && rows <= this.rows)) throw damaged(`a row group of ${rows} rows`);
    /** @type {Map<string, Chunk>} */
    const chunks = new Map();
    for (const column of group.columns) {
      const m = column.meta_data, leaf = m && this.#leaves.get(m.path_in_schema[0]);
      if (!m || !leaf || m.path_in_schema.length !== leaf.path.length || m.path_in_schema.some((part, i) => part !== leaf.path[i])) continue;
      if (Number(m.num_values) !== rows) throw damaged(`${rows} rows by a row group, and ${m.num_values} by its column ${JSON.stringify(leaf.path[0].slice(0, 40))}`);
      const start = Number(m.dictionary_page_offset && m.dictionary_page_offset < m.data_page_offset ? m.dictionary_page_offset : m.data_page_offset);
      chunks.set(leaf.path[0], { column, start, end: start + Number(m.total_compressed_size) });
    }
    let held = 0;
    const hold = (/** @type {number} */ n) => {
      if ((held += n) > HELD) throw new Fault(`row groups of which at most ${HELD >> 20} MB are held`, "a larger one", "Save the file with smaller row groups.");
    };
    /** @type {Column[]} */
    const read = [];
    for (let at = 0; at < columns.length;) {
      /** @type {Chunk[]} */
      const batch = [];
      for (let packed = 0; at < columns.length && batch.length < COLUMNS && packed < BATCH; at++) {
        const chunk = chunks.get(columns[at]);
        if (!chunk) throw damaged("a row group without one of the columns");
        if (!(chunk.start >= 4 && chunk.end > chunk.start && chunk.end <= this.#source.byteLength)) throw damaged("a column outside the file");
        packed += chunk.end - chunk.start;
        batch.push(chunk);
      }
      const size = batch.reduce((sum, c) => sum + c.end - c.start, 0);
      hold(size);
      this.#spend(size);
      const bytes = await this.#bytes(batch);
      for (const c of batch) {
        const m = /** @type {import("hyparquet").ColumnMetaData} */ (c.column.meta_data), leaf = /** @type {Leaf} */ (this.#leaves.get(m.path_in_schema[0]));
        read.push(new Column(/** @type {ArrayBuffer} */ (bytes.get(`${c.start}-${c.end}`)), m.codec, leaf, rows, !this.pictures, hold, (n) => this.#spend(n)));
      }
      this.#read += size;
      yield nothing;
    }
    /** @type {unknown[]} */
    const values = new Array(read.length);
    let row = 0;
    return () => {
      if (row++ === rows) {
        for (const column of read) column.end();
        return undefined;
      }
      for (let c = 0; c < read.length; c++) values[c] = read[c].next();
      return values;
    };
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

  async * #text() {
    const encoder = new TextEncoder();
    this.#read = this.#given = 0;
    yield encoder.encode(this.#columns.map(cell).join(",") + "\n"); // of too many it is refused
    let text = "";
    for (let g = 0; g < this.#metadata.row_groups.length; g++) {
      const next = yield* this.#group(g, this.#columns), size = this.#read - this.#given, rows = Number(this.#metadata.row_groups[g].num_rows);
      for (let row; (row = next());) {
        this.#given += size / rows;
        for (let c = 0; c < row.length; c++) text += (c ? "," : "") + cell(this.#named(this.#columns[c], row[c]));
        text += "\n";
        if (text.length > CHUNK) {
          this.#spend(text.length);
          yield encoder.encode(text);
          text = "";
        }
      }
    }
    this.#spend(text.length);
    if (text) yield encoder.encode(text);
  }

  async * #frames() {
    const encoder = new TextEncoder();
    this.#read = this.#given = 0;
    for (let g = 0; g < this.#metadata.row_groups.length; g++) {
      const next = yield* this.#group(g, this.#columns), size = this.#read - this.#given, rows = Number(this.#metadata.row_groups[g].num_rows);
      for (let row; (row = next());) {
        this.#given += size / rows;
        const named = this.#named(this.#label, row[1]);
        const bytes = row[0] instanceof Uint8Array ? row[0] : new Uint8Array();
        this.#spend(named.length + bytes.length);
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

// structure walks through one structure of Thrift's compact protocol, the encoding of metadata, from
// offset on and is where it ends. What it says of lengths is what is there: the library makes
// lists, numbers and structures as large as they say they are.
/** @param {DataView} view @param {number} offset */
function structure(view, offset) {
  const end = view.byteLength;
  let at = offset, structs = 1000 + (end - offset) / 4; // of a column's name with its type, three in twelve bytes
  const byte = () => {
    if (at >= end) throw damaged("metadata that is cut short");
    return view.getUint8(at++);
  };
  const number = () => {
    let n = 0;
    for (let i = 0; i < 10; i++) {
      const b = byte();
      n += (b & 127) * 2 ** (7 * i);
      if (b < 128) return n;
    }
    throw damaged("a number of more than ten bytes in its metadata");
  };
  const skip = (/** @type {number} */ n) => {
    if (n > end - at) throw damaged(`metadata that promises ${n} bytes more than there are`);
    at += n;
  };
  /** @param {number} type @param {number} depth */
  const element = (type, depth) => {
    if (depth > DEPTH) throw damaged("metadata that nests deeply");
    switch (type) {
      case 1: case 2: return;
      case 3: return skip(1);
      case 4: case 5: case 6: return void number();
      case 7: return skip(8);
      case 8: return skip(number());
      case 9: {
        const head = byte(), of = head & 15, n = head >> 4 === 15 ? number() : head >> 4;
        if (n > end - at) throw damaged(`a list of ${n} in its metadata`);
        for (let i = 0; i < n; i++) element(of < 3 ? 3 : of, depth + 1);
        return;
      }
      case 12:
        if (--structs < 0) throw damaged("metadata of nothing but beginnings");
        for (;;) {
          const head = byte();
          if ((head & 15) === 0) return;
          if (head >> 4 === 0) number();
          element(head & 15, depth + 1);
        }
      default: throw damaged("metadata of an unknown kind");
    }
  };
  element(12, 0);
  return at;
}

// shallow refuses a schema that nests deeply, which the library would walk through again and again.
/** @param {import("hyparquet").SchemaElement[]} schema */
function shallow(schema) {
  /** @type {number[]} */
  const open = []; // how many children are to come of each above
  for (const { num_children: n = 0 } of schema) {
    while (open.length && open[open.length - 1] === 0) open.pop();
    if (open.length) open[open.length - 1]--;
    open.push(n);
    if (open.length > DEPTH) throw damaged("a schema that nests deeply");
  }
}

// Runs are whole numbers in Parquet's hybrid of runs and packed bits, in data from at on, of
// so many bits each. They are read as they are asked for.
class Runs {
  #data;
  #at;
  #width;
  #bit = 0; // within the byte at #at
  #left; // of the present run
  #packed;
  #value = 0;

  /** @param {Uint8Array} data @param {number} at @param {number} width @param {number} [packed] so many numbers are packed from there on, without a run's head */
  constructor(data, at, width, packed = 0) {
    if (!(width >= 0 && width <= 32)) throw damaged(`numbers of ${width} bits`);
    this.#data = data;
    this.#at = at;
    this.#width = width;
    this.#left = packed;
    this.#packed = packed > 0;
  }

  next() {
    if (this.#width === 0) return 0;
    if (this.#left === 0) this.#run();
    this.#left--;
    return this.#packed ? this.#bits() : this.#value;
  }

  #run() {
    if (this.#bit) [this.#bit, this.#at] = [0, this.#at + 1];
    while (this.#left === 0) {
      let head = 0;
      for (let i = 0, b = 128; b >= 128; i++) {
        if (i === 5 || this.#at >= this.#data.length) throw damaged("fewer values than it promises");
        b = this.#data[this.#at++];
        head += (b & 127) * 2 ** (7 * i);
      }
      const n = Math.floor(head / 2);
      this.#packed = head % 2 === 1;
      this.#left = this.#packed ? 8 * n : n;
      if (this.#packed) continue;
      this.#value = 0;
      for (let i = 0; i < this.#width; i += 8) this.#value += (this.#data[this.#at++] ?? 0) * 2 ** i;
    }
  }

  // #bits are the next number's. What is missing at the end of the last are zeros.
  #bits() {
    let value = 0;
    for (let got = 0; got < this.#width;) {
      const n = Math.min(8 - this.#bit, this.#width - got);
      value += ((this.#data[this.#at] ?? 0) >> this.#bit & (1 << n) - 1) * 2 ** got;
      got += n;
      if ((this.#bit += n) === 8) [this.#bit, this.#at] = [0, this.#at + 1];
    }
    return value;
  }
}

// Column gives the values of a column of a row group one after the other.
class Column {
  #reader;
  #codec;
  #element;
  #levels;
  #left; // values that pages are still to have
  #decoder;
  #hold;
  #spend;
  /** @type {ArrayLike<unknown> | undefined} */
  #dictionary;
  #page = 0; // values of the present page that are still to come
  #held = 0; // bytes of it
  /** @type {Runs | undefined} */
  #present; // which of them are there
  /** @type {(n: number) => ArrayLike<unknown>} */
  #take = () => [];
  /** @type {ArrayLike<unknown>} */
  #block = [];
  #at = 0;

  /**
   * @param {ArrayBuffer} bytes @param {import("hyparquet").CompressionCodec} codec @param {Leaf} leaf @param {number} rows @param {boolean} utf8
   * @param {(n: number) => void} hold @param {(n: number) => void} spend
   */
  constructor(bytes, codec, leaf, rows, utf8, hold, spend) {
    this.#reader = { view: new DataView(bytes), offset: 0 };
    this.#codec = codec;
    this.#element = leaf.element;
    this.#levels = leaf.levels;
    this.#left = rows;
    this.#decoder = /** @type {any} */ ({ element: leaf.element, parsers: DEFAULT_PARSERS, utf8 });
    this.#hold = hold;
    this.#spend = spend;
  }

  next() {
    if (this.#at === this.#block.length) this.#fill();
    return this.#block[this.#at++];
  }

  // end refuses pages of values behind the last row.
  end() {
    while (this.#reader.offset < this.#reader.view.byteLength) this.#open();
  }

  // #fill makes the next block of values, null where there is none.
  #fill() {
    while (this.#page === 0) this.#open();
    const n = Math.min(BLOCK, this.#page);
    this.#page -= n;
    this.#at = 0;
    if (!this.#present) {
      this.#block = this.#take(n);
      return;
    }
    const there = new Uint8Array(n);
    let some = 0;
    for (let i = 0; i < n; i++) some += there[i] = this.#present.next() === this.#levels ? 1 : 0;
    const values = this.#take(some);
    if (some === n) {
      this.#block = values;
      return;
    }
    const block = new Array(n).fill(null);
    for (let i = 0, k = 0; i < n; i++) if (there[i]) block[i] = values[k++];
    this.#block = block;
  }

  // #open opens the next page.
  #open() {
    const reader = this.#reader, { view } = reader;
    if (reader.offset >= view.byteLength) throw damaged(`a column that lacks ${this.#left} of its values`);
    structure(view, reader.offset);
    const h = parquetHeader(reader), size = Number(h.uncompressed_page_size), packed = Number(h.compressed_page_size);
    if (!(packed >= 0 && packed <= view.byteLength - reader.offset && size >= 0 && size <= HELD)) throw damaged(`a page of ${packed} bytes that are unpacked to ${size}`);
    const bytes = new Uint8Array(view.buffer, view.byteOffset + reader.offset, packed);
    reader.offset += packed;
    this.#spend(size);
    if (h.type === "DICTIONARY_PAGE") return this.#list(this.#unpack(bytes, size), Number(h.dictionary_page_header?.num_values));
    if (h.type !== "DATA_PAGE" && h.type !== "DATA_PAGE_V2") return;
    const v1 = h.data_page_header, v2 = h.data_page_header_v2, n = Number((v2 ?? v1)?.num_values);
    if (!(n >= 0 && n <= this.#left)) throw damaged(`a page of ${n} values where ${this.#left} rows are left`);
    this.#left -= n;
    this.#page = n;
    this.#hold(-this.#held);
    this.#hold(this.#held = this.#codec === "UNCOMPRESSED" ? 0 : size);
    const width = 32 - Math.clz32(this.#levels);
    if (v2) {
      const repeats = Number(v2.repetition_levels_byte_length), levels = repeats + Number(v2.definition_levels_byte_length);
      if (!(repeats >= 0 && levels >= repeats && levels <= Math.min(packed, size))) throw damaged(`levels of ${levels} bytes`);
      this.#present = this.#levels ? new Runs(bytes.subarray(repeats, levels), 0, width) : undefined;
      const rest = bytes.subarray(levels);
      this.#values(v2.is_compressed === false ? rest : this.#unpack(rest, size - levels), 0, v2.encoding, n);
      return;
    }
    const page = this.#unpack(bytes, size);
    if (!this.#levels) {
      this.#present = undefined;
      this.#values(page, 0, v1?.encoding, n);
      return;
    }
    const levels = page.length < 4 ? -1 : new DataView(page.buffer, page.byteOffset).getUint32(0, true);
    if (levels < 0 || levels > page.length - 4) throw damaged(`levels of ${levels} bytes`);
    this.#present = new Runs(page.subarray(4, 4 + levels), 0, width);
    this.#values(page, 4 + levels, v1?.encoding, n);
  }

  /** @param {Uint8Array} bytes @param {number} size */
  #unpack(bytes, size) {
    return size === 0 ? new Uint8Array() : decompressPage(bytes, size, this.#codec, compressors);
  }

  // #list makes the dictionary, of n values.
  /** @param {Uint8Array} page @param {number} n */
  #list(page, n) {
    if (!(n >= 0 && n <= page.length)) throw damaged(`a dictionary of ${n} values in ${page.length} bytes`);
    this.#hold(page.length + 48 * n); // a text takes so much beside its letters
    const take = this.#plain(page, 0), parts = [];
    for (let at = 0; at < n; at += BLOCK) parts.push(Array.from(take(Math.min(BLOCK, n - at))));
    this.#dictionary = parts.flat();
  }

  // #values sets how the values of a page are made, which begin at at; n are in it, missing ones counted.
  /** @param {Uint8Array} page @param {number} at @param {string | undefined} encoding @param {number} n */
  #values(page, at, encoding, n) {
    const { type, type_length: length } = this.#element;
    if (encoding === "PLAIN_DICTIONARY" || encoding === "RLE_DICTIONARY") {
      const list = this.#dictionary, runs = new Runs(page, at + 1, page[at] ?? 0);
      if (!list) throw damaged("a page that lacks its dictionary");
      this.#take = (n) => Array.from({ length: n }, () => {
        const k = runs.next();
        if (k >= list.length) throw damaged(`value ${k} of a dictionary of ${list.length}`);
        return list[k];
      });
    } else if (type === "BOOLEAN") {
      if (encoding !== "PLAIN" && encoding !== "RLE") throw damaged(`the encoding ${encoding}`);
      const runs = encoding === "RLE" ? new Runs(page, at + 4, 1) : new Runs(page, at, 1, 8 * page.length);
      this.#take = (n) => Array.from({ length: n }, () => runs.next() === 1);
    } else if (encoding === "PLAIN") {
      this.#take = this.#plain(page, at);
    } else {
      this.#hold(128 * n); // an array of bytes takes so much beside them
      this.#held += 128 * n;
      const values = this.#whole(page, at, encoding, this.#some(n), type, length);
      let from = 0;
      this.#take = (n) => convert(values.slice(from, from += n), this.#decoder);
    }
  }

  // #some is how many of a page's n values are there.
  /** @param {number} n */
  #some(n) {
    if (!this.#present) return n;
    const there = [];
    let some = 0;
    for (let i = 0; i < n; i++) some += there[i] = this.#present.next() === this.#levels ? 1 : 0;
    let at = 0;
    this.#present = /** @type {any} */ ({ next: () => there[at++] ? this.#levels : -1 });
    return some;
  }

  // #plain returns what reads values that stand one behind the other.
  /** @param {Uint8Array} page @param {number} at @returns {(n: number) => ArrayLike<unknown>} */
  #plain(page, at) {
    const { type, type_length: length } = this.#element, view = new DataView(page.buffer, page.byteOffset, page.byteLength), reader = { view, offset: at };
    if (!type) throw damaged("a column without a type");
    if (type !== "BYTE_ARRAY") return (n) => convert(this.#exact(readPlain(reader, type, n, length)), this.#decoder);
    return (n) => convert(this.#exact(Array.from({ length: n }, () => {
      const size = view.getUint32(reader.offset, true), from = reader.offset + 4;
      if (size > page.length - from) throw damaged(`a value of ${size} bytes`);
      return page.subarray(from, reader.offset = from + size);
    })), this.#decoder);
  }

  // #exact refuses decimals of more bytes than any have, which take time that grows with their square.
  /** @template {ArrayLike<any>} T @param {T} values */
  #exact(values) {
    if (this.#element.converted_type === "DECIMAL") {
      for (let i = 0; i < values.length; i++) if (values[i].length > 64) throw damaged(`a decimal of ${values[i].length} bytes`);
    }
    return values;
  }

  // #whole makes all n values of a page at once.
  /**
   * @param {Uint8Array} page @param {number} at @param {string | undefined} encoding @param {number} n
   * @param {import("hyparquet").ParquetType | undefined} type @param {number | undefined} length @returns {any}
   */
  #whole(page, at, encoding, n, type, length) {
    const reader = { view: new DataView(page.buffer, page.byteOffset, page.byteLength), offset: at };
    if (n === 0) return [];
    switch (encoding) {
      case "DELTA_BINARY_PACKED": {
        const values = type === "INT32" ? new Int32Array(n) : new BigInt64Array(n);
        deltaBinaryUnpack(reader, n, values);
        return values;
      }
      case "BYTE_STREAM_SPLIT":
        if (n * (type === "FIXED_LEN_BYTE_ARRAY" ? length ?? 1 : 4) > page.length - at) throw damaged(`${n} values in ${page.length - at} bytes`);
        return this.#exact(byteStreamSplit(reader, n, /** @type {any} */ (type), length));
      case "DELTA_LENGTH_BYTE_ARRAY": {
        /** @type {any[]} */
        const values = new Array(n);
        deltaLengthByteArray(reader, n, values);
        return this.#exact(values);
      }
      case "DELTA_BYTE_ARRAY": {
        const before = new Int32Array(n), more = new Int32Array(n);
        deltaBinaryUnpack(reader, n, before);
        deltaBinaryUnpack(reader, n, more);
        let size = 0;
        for (let i = 0; i < n; i++) {
          if (before[i] < 0 || more[i] < 0 || before[i] > (i ? before[i - 1] + more[i - 1] : 0)) throw damaged("values that begin as none before");
          size += before[i] + more[i];
        }
        this.#spend(size);
        this.#hold(size);
        this.#held += size;
        /** @type {Uint8Array[]} */
        const values = [];
        for (let i = 0; i < n; i++) {
          const value = new Uint8Array(before[i] + more[i]);
          if (before[i]) value.set(values[i - 1].subarray(0, before[i]));
          if (more[i] > page.length - reader.offset) throw damaged(`a value of ${more[i]} bytes`);
          value.set(page.subarray(reader.offset, reader.offset += more[i]), before[i]);
          values.push(value);
        }
        return this.#exact(values);
      }
    }
    throw damaged(`the encoding ${encoding}`);
  }
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
