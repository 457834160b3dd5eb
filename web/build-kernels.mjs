// Builds the SIMD kernels, core/compute/simd/kernels, twice from one source:
// kernels.wasm and, with fused multiply-add, kernels-relaxed.wasm.
//
//	node build-kernels.mjs [output directory, default ../dist/web]
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import asc from "assemblyscript/asc";

const here = fileURLToPath(new URL(".", import.meta.url));
const source = relative(process.cwd(), join(here, "../core/compute/simd/kernels/index.ts"));
const out = resolve(process.argv[2] ?? join(here, "../dist/web"));

// build returns the module's bytes.
/** @param {string[]} features */
async function build(features) {
  let wasm;
  const { error, stderr } = await asc.main(
    [source, "--outFile", "k.wasm", "-Ospeed", "--noAssert",
      "--runtime", "stub", "--importMemory", "--noExportMemory", "--use", "abort=",
      ...features.flatMap((f) => ["--enable", f])],
    { writeFile: (_, bytes) => { wasm = bytes; }, readFile: (name, dir) => readFile(resolve(dir, name), "utf8").catch(() => null) },
  );
  if (error) throw new Error(`${error.message}\n${stderr}`);
  check(wasm);
  return wasm;
}

// check refuses a module that would write to the memory it is given, which is
// Go's, or that needs anything else.
function check(wasm) {
  const needs = WebAssembly.Module.imports(new WebAssembly.Module(needsOnly(wasm)));
  const names = needs.map((i) => `${i.module}.${i.name}`).join(", ");
  if (names !== "env.memory") throw new Error(`the kernels import ${names}, not env.memory alone`);
}

// needsOnly returns the module up to its import section, which every engine can
// compile, after looking for a data (11) or start (8) section.
function needsOnly(wasm) {
  let end = 8;
  for (let p = 8; p < wasm.length;) {
    const id = wasm[p++];
    let size = 0;
    for (let shift = 0; ; shift += 7) {
      const b = wasm[p++];
      size |= (b & 0x7f) << shift;
      if (b < 0x80) break;
    }
    p += size;
    if (id === 11 || id === 8) throw new Error("the kernels have data or start code, which Go's memory has no room for");
    if (id <= 2) end = p;
  }
  return wasm.subarray(0, end);
}

await mkdir(out, { recursive: true });
for (const [name, features] of /** @type {[string, string[]][]} */ ([["kernels.wasm", ["simd"]], ["kernels-relaxed.wasm", ["simd", "relaxed-simd"]]])) {
  const wasm = await build(features);
  await writeFile(join(out, name), wasm);
  console.log(`${name}: ${wasm.length} bytes`);
}
