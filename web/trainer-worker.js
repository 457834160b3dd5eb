// The bootstrap of a trainer worker: it waits for the compiled trainer, joins it
// to the SIMD kernels where the browser can run them, and starts it. From then
// on the Go program owns onmessage; see wasm/worker/protocol.go.
"use strict";

importScripts("../wasm_exec.js", "kernels.js");

// The last lines the program wrote: why it ended, if it ends.
let log = "";
const decoder = new TextDecoder();
const writeSync = globalThis.fs.writeSync;
globalThis.fs.writeSync = (fd, bytes) => {
  log = (log + decoder.decode(bytes)).slice(-4000);
  return writeSync.call(globalThis.fs, fd, bytes);
};

/** @param {string} text */
function exit(text) {
  postMessage({ type: "exit", id: 0, text: text || log });
}

/** @param {string} name */
async function compile(name) {
  const response = await fetch(new URL(name, self.location.href));
  if (!response.ok) throw new Error(`${name}: the server answered ${response.status}`);
  return WebAssembly.compile(await response.arrayBuffer());
}

self.onmessage = async (e) => {
  if (e.data?.type !== "init") return;
  self.onmessage = null;
  try {
    const go = new Go();
    /** @type {WebAssembly.Module} */
    const module = e.data.module;
    await clipscopeKernels.load(compile);
    const instance = await WebAssembly.instantiate(module, { ...go.importObject, kernels: clipscopeKernels.imports });
    clipscopeKernels.attach(instance);
    await go.run(instance);
    exit(log);
  } catch (error) {
    exit(log + "\n" + (error?.name ?? "Error") + ": " + (error?.message ?? error));
  }
};
