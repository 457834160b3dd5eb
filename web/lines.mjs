// Takes the numbers of lines, where arguments are, and which calls were inlined, out of a program of Go's. Only the
// trace of a program that has ended shows them, and its functions' names stay: a visitor fetches a twentieth less. A
// program that is written otherwise stays as it is.
//
//	node lines.mjs app.wasm
//
// They are in a table of the runtime's (runtime/symtab.go): a header, and for each function where its tables from
// places to numbers begin. One that begins at 0 is none. What each function has besides (internal/abi/symtab.go) is
// told by its number: of inlined calls table 2, and 3 of what lies elsewhere, where all ones is none; of arguments table 3,
// and 5 and 6. What calls recover reads the inlined calls, too: so none of it may be compiled with inlining (hot_test.go).
import { readFileSync, writeFileSync } from "node:fs";

// The table's version, and the sizes of an instruction and of a pointer.
const MAGIC = Buffer.from([0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8]);

class Unknown extends Error {}
/** @param {boolean} known @param {string} what */
const expect = (known, what) => { if (!known) throw new Unknown(what); };

/** @param {Buffer} b @param {number} at @returns {[value: number, next: number]} */
function leb(b, at) {
  let value = 0, shift = 0, byte;
  do {
    byte = b[at++];
    value += (byte & 127) * 2 ** shift;
    shift += 7;
  } while (byte & 128);
  return [value, at];
}

// segments returns where the parts of the memory that a program begins with are in its file.
/** @param {Buffer} file */
function segments(file) {
  const DATA = 11, I32_CONST = 0x41;
  /** @type {{ to: number, from: number, size: number }[]} */
  const parts = [];
  for (let at = 8; at < file.length;) {
    const id = file[at];
    let [size, i] = leb(file, at + 1);
    at = i + size;
    if (id !== DATA) continue;
    let n;
    [n, i] = leb(file, i);
    for (; n > 0; n--) {
      expect(file[i] === 0 && file[i + 1] === I32_CONST, "data that are placed otherwise");
      const [to, end] = leb(file, i + 2);
      [size, i] = leb(file, end + 1);
      parts.push({ to, from: i, size });
      i += size;
    }
  }
  return parts;
}

// tableEnd returns where a table ends: pairs of numbers, until the first of a pair that is not the first is 0.
/** @param {Buffer} memory @param {number} at */
function tableEnd(memory, at) {
  for (let first = true; first || memory[at] !== 0; first = false) {
    for (let i = 0; i < 2; i++) while (memory[at++] & 128);
  }
  return at + 1;
}

/** @param {Buffer} memory */
function clear(memory) {
  const header = memory.indexOf(MAGIC);
  expect(header > 0, "no table of functions");
  const [functions, , , , units, files, tables, entries] = Array.from({ length: 8 }, (_, i) => Number(memory.readBigUInt64LE(header + 8 + 8 * i)) + (i < 2 ? 0 : header));
  expect(units <= files && files <= tables && tables <= entries && entries + 8 * functions < memory.length, "a table of functions in another order");
  /** @type {Set<number>} */
  const lines = new Set(), others = new Set([0]);
  for (let f = 0; f < functions; f++) {
    // A function is a record of runtime's type _func: from byte 16 on where its tables begin, of places on the stack, of files and
    // of lines, how many others there are, its unit and its own line; from byte 44 on the others, and then what lies
    // elsewhere, of which byte 43 has the number.
    const at = entries + memory.readUInt32LE(entries + 8 * f + 4), n = memory.readUInt32LE(at + 28), elsewhere = memory[at + 43];
    expect(n < 8 && elsewhere < 9, `a function with ${n} tables, and ${elsewhere} elsewhere`);
    const more = Array.from({ length: n }, (_, i) => 44 + 4 * i), unread = [20, 24, ...more.slice(2, 4)];
    for (const field of [16, ...more]) if (!unread.includes(field)) others.add(memory.readUInt32LE(at + field));
    for (const field of unread) {
      lines.add(memory.readUInt32LE(at + field));
      memory.fill(0, at + field, at + field + 4);
    }
    for (const i of [3, 5, 6]) if (i < elsewhere) memory.fill(255, at + 44 + 4 * (n + i), at + 48 + 4 * (n + i));
    memory.fill(0, at + 36, at + 40);
  }
  for (const t of lines) if (!others.has(t)) memory.fill(0, tables + t, tableEnd(memory, tables + t));
  memory.fill(0, units, tables); // the names of files
}

const path = process.argv[2], file = readFileSync(path);
try {
  const parts = segments(file), memory = Buffer.alloc(Math.max(...parts.slice(-1).map(({ to, size }) => to + size), 0));
  for (const { to, from, size } of parts) file.copy(memory, to, from, from + size);
  clear(memory);
  for (const { to, from, size } of parts) memory.copy(file, from, to, to + size);
  writeFileSync(path, file);
} catch (e) {
  if (!(e instanceof Unknown || e instanceof RangeError)) throw e;
  console.error(`lines.mjs: ${path} keeps its numbers of lines, as it is not written as Go 1.26 does: ${e.message}`);
}
