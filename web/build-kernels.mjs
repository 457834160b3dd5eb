// Builds the SIMD kernels twice from one source: kernels.wasm and, with fused
// multiply-add, kernels-relaxed.wasm. Every .ts file under core, but for those of
// package simd that kernels share, is one kernel: it exports a function of its
// name, which one function, run, calls by number (package kernel has the rule for
// parameters). The numbers are exported as id_NAME.
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

// signature is the name of the kernel in a file and its call from run.
/** @param {string} file */
async function signature(file) {
  const text = await readFile(file, "utf8");
  for (const [, name, list] of text.matchAll(/export function (\w+)\(([^)]*)\)/g)) {
    if (name.toLowerCase() !== basename(file, ".ts")) continue;
    const used = {};
    const args = list.split(",").map((p) => p.trim()).filter(Boolean).map((parameter) => {
      const type = parameter.split(":")[1].trim();
      if (!kinds[type]) throw new Error(`${file}: a parameter of type ${type}`);
      const [letter, most] = kinds[type], i = used[letter] ?? 0;
      if (i === most) throw new Error(`${file}: more parameters of type ${type} than ${most}`);
      used[letter] = i + 1;
      return `${type === "f32" ? "<f32>" : ""}${letter}${i}`;
    });
    return { file, name, call: `${name}(${args.join(", ")})` };
  }
  throw new Error(`${file}: there is no export of that name`);
}

// entry is the source of run.
/**
 * @param {{ file: string, name: string, call: string }[]} kernels
 * @param {string} dir
 */
function entry(kernels, dir) {
  const parameters = Object.values(kinds).filter((k, i, all) => all.findIndex(([letter]) => letter === k[0]) === i)
    .flatMap(([letter, n]) => Array.from({ length: n }, (_, i) => `${letter}${i}: ${letter === "f" ? "f64" : letter === "n" ? "i32" : "usize"}`));
  const from = (file) => `./${relative(dir, file).replace(/\.ts$/, "")}`;
  return `${kernels.map((k) => `import { ${k.name} } from "${from(k.file)}";`).join("\n")}
export { newSums, freeSums } from "./core/compute/simd/sums";
export function alloc(bytes: usize): usize { return heap.alloc(bytes); }
export function free(at: usize): void { heap.free(at); }
export function clearBytes(at: usize, bytes: usize): void { memory.fill(at, 0, bytes); }
export function run(id: i32, ${parameters.join(", ")}): void {
  switch (id) {
${kernels.map((k, i) => `    case ${i}: ${k.call}; break;`).join("\n")}
  }
}
${kernels.map((k, i) => `export const id_${k.name}: i32 = ${i};`).join("\n")}
`;
}

// build returns the module's bytes.
/**
 * @param {string} source
 * @param {string} root
 * @param {string[]} features
 */
async function build(source, root, features) {
  let wasm;
  const { error, stderr } = await asc.main(
    ["entry.ts", "--baseDir", root, "--outFile", "k.wasm", "-Ospeed", "--noAssert", "--runtime", "minimal", "--use", "abort=",
      ...features.flatMap((f) => ["--enable", f])],
    {
      writeFile: (_, bytes) => { wasm = bytes; },
      readFile: (name, dir) => name === "entry.ts" ? source : readFile(resolve(dir, name), "utf8").catch(() => null),
    },
  );
  if (error) throw new Error(`${error.message}\n${stderr}`);
  const needs = WebAssembly.Module.imports(await WebAssembly.compile(wasm).catch(() => new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))));
  if (needs.length > 0) throw new Error(`the kernels import ${needs.map((i) => `${i.module}.${i.name}`).join(", ")}, not nothing`);
  return wasm;
}

const root = join(here, "..");
const kernels = await Promise.all((await files()).map(signature));
const source = entry(kernels, root);
await mkdir(out, { recursive: true });
for (const [name, features] of /** @type {[string, string[]][]} */ ([["kernels.wasm", ["simd"]], ["kernels-relaxed.wasm", ["simd", "relaxed-simd"]]])) {
  const wasm = await build(source, root, features);
  await writeFile(join(out, name), wasm);
  console.log(`${name}: ${wasm.length} bytes`);
}
