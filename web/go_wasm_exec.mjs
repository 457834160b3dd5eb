// Runs a Go program for js/wasm in Node with the SIMD kernels; otherwise what
// lib/wasm/go_js_wasm_exec of the Go distribution does:
//
//	GOOS=js GOARCH=wasm go test -exec "node --stack-size=8192 $PWD/web/go_wasm_exec.mjs" ./core/...
//
// CLIPSCOPE_KERNELS names the directory of the kernel modules (default
// ../dist/web), CLIPSCOPE_SIMD the kind: relaxed, simd128 or none (default: the
// best that this Node runs; relaxed needs --experimental-wasm-relaxed-simd in
// Node 20), CLIPSCOPE_THREADS how many threads share every call that can be cut,
// however short; with 0 the kernels are those of a page that is not isolated.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import vm from "node:vm";
import { Worker } from "node:worker_threads";
import { kernels } from "./kernels.js";
/** @import { Kind } from "./types.d.ts" */

const here = fileURLToPath(new URL(".", import.meta.url));
const dir = process.env.CLIPSCOPE_KERNELS ?? join(here, "../dist/web");
if (process.argv.length < 3) {
  console.error("usage: go_wasm_exec.mjs program.wasm [arguments]");
  process.exit(2);
}

const require = createRequire(import.meta.url);
Object.assign(globalThis, { require, fs: require("fs"), path: require("path") }); // what wasm_exec.js asks for
const script = (file) => vm.runInThisContext(readFileSync(file, "utf8"), { filename: file });
const goroot = execFileSync("go", ["env", "GOROOT"], { encoding: "utf8" }).trim();
script(join(goroot, "lib/wasm/wasm_exec.js"));
/** @type {any} */ (globalThis).clipscopeWorker = { kernels }; // where core/compute/simd looks

/** @type {any} */
const go = new Go();
go.argv = process.argv.slice(2);
go.env = { TMPDIR: tmpdir(), ...process.env };
go.exit = process.exit;
process.on("exit", (code) => {
  if (code === 0 && !go.exited) { // a deadlock: have Go print its goroutines
    go._pendingEvent = { id: 0 };
    go._resume();
  }
});

if (process.env.CLIPSCOPE_THREADS === "0") Object.assign(globalThis, { crossOriginIsolated: false });
// Node's workers as a browser's.
kernels.spawn = (text) => {
  const worker = new Worker(`const { parentPort } = require("node:worker_threads");
    globalThis.self = globalThis;
    globalThis.postMessage = (m) => parentPort.postMessage(m);
    parentPort.on("message", (data) => onmessage({ data }));
    ${text}`, { eval: true });
  worker.unref();
  const started = {
    onmessage: null, onerror: null, postMessage: (m) => worker.postMessage(m), terminate: () => worker.terminate(),
  };
  worker.on("message", (data) => started.onmessage?.({ data }));
  worker.on("error", (e) => started.onerror?.(e));
  return started;
};
await kernels.load((name) => WebAssembly.compile(readFileSync(join(dir, name))), /** @type {Kind | undefined} */ (process.env.CLIPSCOPE_SIMD));
const threads = Number(process.env.CLIPSCOPE_THREADS);
if (threads > 1) {
  kernels.least = 0;
  if (await kernels.team(threads) !== threads) throw new Error(`there are not ${threads} threads: ${kernels.alone}`);
}
const { instance } = await WebAssembly.instantiate(readFileSync(process.argv[2]), { ...go.importObject, kernels: kernels.imports });
kernels.attach(instance);
await go.run(instance);
