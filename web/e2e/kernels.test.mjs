// The SIMD kernels in a real browser, which has relaxed SIMD where Node has not,
// and their loader.
import { transformSync } from "esbuild";
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import vm from "node:vm";
import { root } from "./browser.mjs";
import { missing } from "./firefox.mjs";
import { goTest } from "./gotest.mjs";

for (const [browser, kinds, skip, pattern] of /** @type {[string, RegExp, string | false, string][]} */ ([
  ["chromium", /kernels: relaxed/, false, "^TestBackendPassesTheSuite|^TestThreadsChangeNoBit$/3"],
  ["firefox", /kernels: (relaxed|simd128)/, missing, "^TestBackendPassesTheSuite|^TestThreadsChangeNoBit$/3/(Gemm|Fill)"], // older ones do not fuse, and run Go many times slower
])) {
  test(`every kernel passes the suite in ${browser}`, { skip }, async () => {
    const said = await goTest(browser, "./core/compute/simd", pattern);
    assert.match(said, kinds);
    assert.match(said, /--- PASS: TestBackendPassesTheSuite\/Gemm/);
    assert.match(said, /--- PASS: TestThreadsChangeNoBit\/3\/Gemm/);
  });
}

const script = transformSync(fs.readFileSync(path.join(root, "web/kernels.js"), "utf8"), { format: "iife", globalName: "loaded" }).code;

// loader returns a fresh copy of kernels.js in an engine that validates what
// validates() says.
function loader(validates = WebAssembly.validate) {
  const context = vm.createContext({
    WebAssembly: { ...Object.fromEntries(Object.getOwnPropertyNames(WebAssembly).map((n) => [n, WebAssembly[n]])), validate: validates },
    console: { warn() {} }, Uint8Array,
  });
  vm.runInContext(script, context);
  return context.loaded.kernels;
}

test("the loader takes the best kernels that validate", () => {
  assert.equal(loader(() => true).choose(), "relaxed");
  assert.equal(loader(() => false).choose(), "none");
  let probes = 0;
  assert.equal(loader(() => ++probes === 2).choose(), "simd128");
  assert.notEqual(loader().choose(), "none", "this Node has SIMD, and the probes must be valid modules");
});

test("Go runs without kernels that cannot be loaded", async () => {
  const kernels = loader();
  assert.equal(await kernels.load(async () => { throw new Error("404"); }), "none");
  assert.equal(await kernels.load(async () => assert.fail("nothing to compile"), "none"), "none");
  assert.equal(kernels.bound, "none");
  assert.throws(() => kernels.imports.run(0), /no kernels/);
});

test("kernels work on a memory of their own, to and from which Go copies", async () => {
  const kernels = loader();
  const compile = (name) => WebAssembly.compile(fs.readFileSync(path.join(root, "dist/web", name)));
  assert.equal(await kernels.load(compile, "simd128"), "simd128");
  const go = new WebAssembly.Memory({ initial: 1 });
  kernels.attach({ exports: { mem: go } });
  const fill = kernels.id("fill");
  assert.ok(fill >= 0);
  assert.equal(kernels.id("nothing"), -1);
  const { alloc, run, read, write, free } = kernels.imports;
  const at = alloc(28);
  const values = new Float32Array(go.buffer, 1024, 7);
  read(at, 1024, 28);
  assert.deepEqual([...values], [0, 0, 0, 0, 0, 0, 0], "new memory is zero");
  values.fill(7);
  write(at, 1024, 28);
  run(fill, 5, 0, 0, 0, 0, 1.5, 0, 0, 0, 0, 0, at, 0, 0, 0, 0, 0, 0);
  read(at, 1024, 28);
  assert.deepEqual([...values], [1.5, 1.5, 1.5, 1.5, 1.5, 7, 7]);
  free(at);
  assert.throws(() => alloc(2 ** 32 - 1), /out of memory/);
});
