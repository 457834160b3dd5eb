// The SIMD kernels in a real browser, which has relaxed SIMD where Node has not,
// and their loader.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { promisify } from "node:util";
import vm from "node:vm";
import { root } from "./browser.mjs";

const run = promisify(execFile);

test("every kernel passes the suite in Chromium, fused", async () => {
  const { stdout } = await run("go",
    ["test", "-count=1", "-v", "-exec", `node ${path.join(root, "web/go_chromium_exec.mjs")}`, "./core/compute/simd"],
    { cwd: root, env: { ...process.env, GOOS: "js", GOARCH: "wasm" } },
  ).catch((error) => { throw new Error(error.stdout + error.stderr); });
  assert.match(stdout, /kernels: relaxed/);
  assert.match(stdout, /--- PASS: TestSuite\/Gemm/);
});

// loader returns a fresh copy of kernels.js in an engine that validates what
// validates() says.
function loader(validates = WebAssembly.validate) {
  const context = vm.createContext({
    WebAssembly: { ...Object.fromEntries(Object.getOwnPropertyNames(WebAssembly).map((n) => [n, WebAssembly[n]])), validate: validates },
    console: { warn() {} }, Uint8Array,
  });
  vm.runInContext(fs.readFileSync(path.join(root, "web/kernels.js"), "utf8"), context);
  return context.clipscopeKernels;
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
  const go = { exports: { mem: new WebAssembly.Memory({ initial: 1 }) } };
  assert.equal(await kernels.load(go, async () => { throw new Error("404"); }), "none");
  assert.equal(await kernels.load(go, async () => assert.fail("nothing to compile"), "none"), "none");
  assert.equal(kernels.bound, "none");
});

test("bound kernels work on the memory of the Go program", async () => {
  const kernels = loader();
  const memory = new WebAssembly.Memory({ initial: 1 });
  const { fill } = kernels.imports().kernels;
  assert.throws(() => fill(0, 0, 0), "before there are kernels");
  const compile = (name) => WebAssembly.compile(fs.readFileSync(path.join(root, "dist/web", name)));
  assert.equal(await kernels.load({ exports: { mem: memory } }, compile, "simd128"), "simd128");
  fill(5, 1.5, 1024);
  assert.deepEqual([...new Float32Array(memory.buffer, 1020, 7)], [0, 1.5, 1.5, 1.5, 1.5, 1.5, 0]);
});
