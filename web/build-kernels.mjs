// Builds the SIMD kernels from one source: kernels.wasm and, with fused
// multiply-add, kernels-relaxed.wasm; and both once more, as -threads.wasm, for
// several threads. Every .ts file under core, but for those of
// package simd that kernels share, is one kernel: it exports a function of its
// name, which one function, run, calls by number (package kernel has the rule for
// parameters). The numbers are exported as id_NAME.
//
// A comment before the function says how a call may be cut into parts that threads
// run at the same time, whatever their order:
//
//	// @divide n by 16: x 1, y 2    runs of 16 of the n, of which x has one value each
//	                                and y two: whoever wrote the kernel need do no more
//	// @divide costing m * n        the function has parameters part: Part and parts: Parts
//	// @divide costing m * n, lent  and has one buffer, which it writes, and a key: run
//	                                returns at once, and who wants that buffer, or means to
//	                                free it, calls takeBack first
//
// What a call costs, in values read and written from the cache, is the sum of those
// of the first form unless it says so, too, after a semicolon. Without the comment a
// call is not cut. What has to be done once before the parts is in NAMEBefore, which
// has some of the same parameters.
//
//	node build-kernels.mjs [output directory, default ../dist/web]
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { basename, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import asc from "assemblyscript/asc";

const here = fileURLToPath(new URL(".", import.meta.url));
const core = join(here, "../core");
const out = resolve(process.argv[2] ?? join(here, "../dist/web"));

// files are those of the kernels.
/** @returns {Promise<string[]>} */
async function files() {
  const all = (await readdir(core, { recursive: true })).filter((f) => f.endsWith(".ts") && !f.startsWith(join("compute", "simd")));
  return all.sort().map((f) => join(core, f));
}

// arguments of run, by the type of a kernel's parameter.
/** @type {Record<string, [string, number]>} */
const kinds = { i32: ["n", 5], f32: ["f", 6], f64: ["f", 6], Ptr: ["b", 5], Sums: ["s", 1], Key: ["k", 1] };

// words are all arguments of run with their types.
const words = Object.values(kinds).filter((k, i, all) => all.findIndex(([letter]) => letter === k[0]) === i)
  .flatMap(([letter, n]) => Array.from({ length: n }, (_, i) => ({ name: `${letter}${i}`, type: letter === "f" ? "f64" : letter === "n" ? "i32" : "usize" })));
const parameters = words.map((w) => `${w.name}: ${w.type}`).join(", ");
const given = words.map((w) => w.name).join(", ");

/** @typedef {{ name: string, type: string, word: string }} Parameter */
/** @typedef {{ file: string, name: string, list: Parameter[], before?: Parameter[], divide?: { size?: string, unit?: string, steps?: [string, string][], cost: string, lent?: boolean } }} Kernel */

// read is the kernel in a file.
/** @param {string} file @returns {Promise<Kernel>} */
async function read(file) {
  const text = await readFile(file, "utf8");
  const found = [...text.matchAll(/(?:\/\/ @divide (.*)\n)?export function (\w+)\(([^)]*)\)/g)];
  const main = found.find(([, , name]) => name.toLowerCase() === basename(file, ".ts"));
  if (!main) throw new Error(`${file}: there is no export of that name`);
  const [, tag, name, text1] = main, used = {};
  const list = split(text1).map(([parameter, type]) => {
    if (type === "Part" || type === "Parts") return { name: parameter, type, word: type === "Part" ? "part" : "parts" };
    if (!kinds[type]) throw new Error(`${file}: a parameter of type ${type}`);
    const [letter, most] = kinds[type], i = used[letter] ?? 0;
    if (i === most) throw new Error(`${file}: more parameters of type ${type} than ${most}`);
    used[letter] = i + 1;
    return { name: parameter, type, word: `${type === "f32" ? "<f32>" : ""}${letter}${i}` };
  });
  const first = found.find(([, , n]) => n === name + "Before");
  const before = first && split(first[3]).map(([parameter]) => list.find((p) => p.name === parameter) ?? raise(`${file}: ${name} has no ${parameter}`));
  const divide = tag ? division(file, tag, list) : undefined;
  if (list.some((p) => p.type === "Part") !== (divide !== undefined && divide.size === undefined)) throw new Error(`${file}: @divide ${tag} does not go with the parameters`);
  return { file, name, list, before, divide };
}

/** @param {string} message @returns {never} */
function raise(message) { throw new Error(message); }

// split is a list of parameters as names and types.
/** @param {string} text */
function split(text) { return text.split(",").map((p) => p.trim()).filter(Boolean).map((p) => p.split(":").map((s) => s.trim())); }

/** @param {string} file @param {string} tag @param {Parameter[]} list */
function division(file, tag, list) {
  const m = /^(?:(\w+)(?: by (\d+))?: ([^;]+?))?(?:(?:^|; )costing ([^,]+)(, lent)?)?$/.exec(tag);
  if (!m || !m[1] && !m[4]) throw new Error(`${file}: @divide ${tag}`);
  const [, size, unit = "1", moving, cost, lent] = m;
  if (lent && (size || list.filter((p) => ["Ptr", "Sums", "Key"].includes(p.type)).map((p) => p.type).join() !== "Ptr,Key")) throw new Error(`${file}: @divide ${tag}`);
  if (!size) return { cost, lent: lent !== undefined };
  const steps = /** @type {[string, string][]} */ (moving.split(",").map((s) => /^(\w+) (.+)$/.exec(s.trim())?.slice(1) ?? raise(`${file}: ${s}`)));
  for (const name of [size, ...steps.map(([p]) => p)]) {
    if (!list.some((p) => p.name === name)) throw new Error(`${file}: @divide names ${name}`);
  }
  return { size, unit, steps, cost: cost ?? `${size} * (${steps.map(([, step]) => step).join(" + ")})` };
}

/** @param {Kernel} k */
const call = (k, part = "0", parts = "1") => `${k.name}(${k.list.map(({ word }) => word === "part" ? part : word === "parts" ? parts : word).join(", ")})`;

// prelude is what is done before the parts.
/** @param {Kernel} k */
const prelude = (k) => k.before ? `${k.name}Before(${k.before.map((p) => p.word).join(", ")}); ` : "";

// entry is the source of run.
/**
 * @param {Kernel[]} kernels
 * @param {string} dir
 * @param {boolean} threads
 */
function entry(kernels, dir, threads) {
  const from = (file) => `./${relative(dir, file).replace(/\.ts$/, "")}`;
  return `${kernels.map((k) => `import { ${k.name}${k.before ? `, ${k.name}Before` : ""} } from "${from(k.file)}";`).join("\n")}
import * as lines from "./core/compute/simd/lines";
import * as sums from "./core/compute/simd/sums";
export function alloc(bytes: usize): usize { takeBack(); return lines.take(bytes); }
export function free(at: usize): void { takeBack(); lines.giveBack(at); }
export function newSums(n: i32): usize { takeBack(); return sums.newSums(n); }
export function freeSums(at: usize): void { takeBack(); sums.freeSums(at); }
export function clearBytes(at: usize, bytes: usize): void { memory.fill(at, 0, bytes); }
${threads ? "" : "export function takeBack(): void {}\n"}${threads ? "" : "export "}function ${threads ? "whole" : "run"}(id: i32, ${parameters}): void {
  switch (id) {
${kernels.map((k, i) => `    case ${i}: ${prelude(k)}${call(k)}; break;`).join("\n")}
  }
}
${kernels.map((k, i) => `export const id_${k.name}: i32 = ${i};`).join("\n")}
${threads ? divided(kernels) : ""}`;
}

// divided is what is there for threads: a run that cuts calls that are worth it, and
// help, which a thread that has joined runs parts with. The parts' arguments stand
// where all threads find them.
/** @param {Kernel[]} kernels */
function divided(kernels) {
  const some = kernels.map((k, i) => ({ ...k, i })).filter((k) => k.divide);
  const places = words.map((w, i) => ({ ...w, at: 8 + 8 * i })), lent = some.filter((k) => k.divide.lent);
  if (lent.length !== 1) throw new Error(`${lent.length} kernels are lent`);
  return `
import { Key, Ptr, Sums } from "./core/compute/simd/vec";
import * as team from "./core/compute/simd/team";
export { fail, found, join, share } from "./core/compute/simd/team";
${some.map((k) => `
// @ts-ignore: decorator
@inline
function cost_${k.name}(${k.list.filter((p) => p.type === "i32" || /^f/.test(p.type)).map((p) => `${p.name}: f64`).join(", ")}): f64 { return ${k.divide.cost}; }`).join("")}
function cost(id: i32, ${parameters}): f64 {
  switch (id) {
${some.map((k) => `    case ${k.i}: return cost_${k.name}(${k.list.filter((p) => p.type === "i32" || /^f/.test(p.type)).map((p) => `<f64>${p.word.replace("<f32>", "")}`).join(", ")});`).join("\n")}
  }
  return 0;
}
${some.filter((k) => k.divide.size).map((k) => `
function part_${k.name}(part: i32, parts: i32, ${k.list.map((p) => `${p.name}: ${p.type}`).join(", ")}): void {
  const __from = team.first(${k.divide.size}, ${k.divide.unit}, part, parts), __n = team.first(${k.divide.size}, ${k.divide.unit}, part + 1, parts) - __from;
  ${k.name}(${k.list.map(({ name }) => {
    const step = k.divide.steps.find(([p]) => p === name)?.[1];
    return name === k.divide.size ? "__n" : step ? `${name} + (<usize>__from * <usize>(${step}) << 2)` : name;
  }).join(", ")});
}`).join("")}
export function run(id: i32, ${parameters}): void {
  const costs = cost(id, ${given}), parts = team.partsFor(costs);
  if (parts == 1 && s0 == 0) { // sums may want memory
    whole(id, ${given});
    return;
  }
  if (parts > 1${lent.map((k) => ` && id == ${k.i}`).join("")}) {
    takeBack();
    put(id, team.lentParts(costs), ${given});
    store<usize>(team.call(), team.keyOf(), ${places.find((w) => w.name === "k0").at});
    team.lend(team.lentParts(costs), k0);
    return;
  }
  team.callOff();
  if (parts == 1) {
    whole(id, ${given});
  } else {
    switch (id) {
${some.filter((k) => k.before).map((k) => `      case ${k.i}: ${prelude(k)}break;`).join("\n")}
    }
    put(id, parts, ${given});
    team.open(0, parts);
    work();
    team.finish();
  }
  team.callOn();
}

// put has a call stand where all threads find it.
function put(id: i32, parts: i32, ${parameters}): void {
  const at = team.call();
  store<i32>(at, id);
  store<i32>(at, parts, 4);
${places.map((w) => `  store<${w.type}>(at, ${w.name}, ${w.at});`).join("\n")}
}

// takeBack waits for what is lent.
export function takeBack(): void {
  if (!team.isLent()) return;
  work();
  team.finish();
  team.returned();
}
function work(): void {
  for (let part = team.claim(); part >= 0; part = team.claim()) {
    const at = team.call(), parts = load<i32>(at, 4);
${places.map((w) => `    const ${w.name} = load<${w.type}>(at, ${w.at});`).join("\n")}
    switch (load<i32>(at)) {
${some.map((k) => `      case ${k.i}: ${k.divide.size ? `part_${k.name}(part, parts, ${k.list.map((p) => p.word).join(", ")})` : call(k, "part", "parts")}; break;`).join("\n")}
    }
    team.done();
  }
}

// help runs parts until there has been none for so many turns, and returns the ticket
// to wait for the end of.
export function help(turns: i32): i32 {
  let left = turns;
  while (true) {
    const t = team.ticket();
    if (!team.idle(t)) {
      work();
      left = turns;
    } else if (--left == 0) {
      return t;
    }
  }
}
`;
}

// PAGES is the most memory that threads can share, all that there is: only what is
// used is taken.
const PAGES = 65536;

// build returns the module's bytes.
/**
 * @param {string} source
 * @param {string} root
 * @param {string[]} features
 */
async function build(source, root, features) {
  const threads = features.includes("threads");
  let wasm;
  const { error, stderr } = await asc.main(
    ["entry.ts", "--baseDir", root, "--outFile", "k.wasm", "-Ospeed", "--noAssert", "--runtime", "minimal", "--use", "abort=",
      ...threads ? ["--importMemory", "--sharedMemory", "--initialMemory", "1", "--maximumMemory", `${PAGES}`] : [],
      ...features.flatMap((f) => ["--enable", f])],
    {
      writeFile: (_, bytes) => { wasm = bytes; },
      readFile: (name, dir) => name === "entry.ts" ? source : readFile(resolve(dir, name), "utf8").catch(() => null),
    },
  );
  if (error) throw new Error(`${error.message}\n${stderr}`);
  const needs = WebAssembly.Module.imports(await WebAssembly.compile(wasm).catch(() => new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))))
    .map((i) => `${i.module}.${i.name}`).filter((name) => !threads || name !== "env.memory");
  if (needs.length > 0) throw new Error(`the kernels import ${needs.join(", ")}, not nothing`);
  return wasm;
}

const root = join(here, "..");
const kernels = await Promise.all((await files()).map(read));
await mkdir(out, { recursive: true });
for (const [name, features] of /** @type {[string, string[]][]} */ ([["kernels", ["simd"]], ["kernels-relaxed", ["simd", "relaxed-simd"]]])) {
  for (const [end, more] of /** @type {[string, string[]][]} */ ([["", []], ["-threads", ["threads"]]])) {
    const wasm = await build(entry(kernels, root, more.length > 0), root, [...features, ...more]);
    await writeFile(join(out, `${name}${end}.wasm`), wasm);
    console.log(`${name}${end}.wasm: ${wasm.length} bytes`);
  }
}
