// The bootstrap of a trainer worker: it waits for the compiled trainer, joins it
// to the SIMD kernels where the browser can run them, and starts it. From then
// on the Go program owns onmessage; see wasm/worker/protocol.go.
import { backbone } from "./backbone.js";
import { gpu } from "./gpu.js";
import { kernels } from "./kernels.js";

// The version of these scripts, which must be the page's: filled in when the site is
// generated.
const VERSION = "__VERSION__";

// What the program wrote, its beginning and its end: why it ended, if it ends. Go
// says the reason first, and may then list what every goroutine was at.
const KEPT = 4000;
let head = "", tail = "";
const decoder = new TextDecoder();
const writeSync = globalThis.fs.writeSync;
globalThis.fs.writeSync = (fd, bytes) => {
  const text = decoder.decode(bytes), room = KEPT - head.length;
  head += text.slice(0, room);
  tail = (tail + text.slice(room)).slice(-KEPT);
  return writeSync.call(globalThis.fs, fd, bytes);
};

/** @param {string} why what JavaScript knows of it */
function exit(why) {
  postMessage({ type: "exit", id: 0, text: [head, tail, why].filter(Boolean).join("\n") });
}

/** @param {any} error */
const ended = (error) => exit((error?.name ?? "Error") + ": " + (error?.message ?? error));

// What ends the program while a promise has it go on is no error that the page hears of.
self.addEventListener("unhandledrejection", (e) => ended(e.reason));

// live holds a lock for as long as this worker lives, so that the page can tell when
// it is gone.
/** @param {string} name */
function live(name) {
  return navigator.locks && new Promise((held) => {
    navigator.locks.request(name, () => {
      held(true);
      return new Promise(() => {});
    }).catch(() => held(false)); // then the page is not told
  });
}

let base = ""; // the folder of the scripts: a worker that started from text has none

/** @param {string} name */
async function compile(name) {
  const response = await fetch(new URL(name, base));
  if (!response.ok) throw new Error(`${name}: the server answered ${response.status}`);
  return WebAssembly.compile(await response.arrayBuffer());
}

// What the program calls, in a worker. By module it asks for scripts of the site's that few
// runs need.
globalThis.clipscopeWorker = Object.freeze({
  kernels, gpu, backbone,
  module: (/** @type {string} */ name) => import(new URL(name, base).href),
});

// prepare does what needs no program.
/** @param {{ version: string, base: string, life: string, running?: Int32Array, alone: string }} init */
async function prepare(init) {
  base = backbone.base = init.base;
  kernels.running = init.running;
  kernels.apart = init.alone;
  const held = live(init.life)?.then((held) => { if (held) postMessage({ type: "held" }); });
  await Promise.all([held, kernels.load(compile)]);
}

// A worker's requests are not in its page's list: the page is told of those to the host's services.
/** @param {PerformanceObserverEntryList} list */
const tell = (list) => {
  const asked = list.getEntries().map((e) => e.name).filter((name) => new URL(name).pathname.startsWith("/api/"));
  if (asked.length > 0) postMessage({ type: "asked", id: 0, text: JSON.stringify(asked) });
};
if (self.PerformanceObserver) new PerformanceObserver(tell).observe({ type: "resource" });

/** @param {WebAssembly.Module} module */
async function run(module) {
  const go = new Go();
  const instance = await WebAssembly.instantiate(module, { ...go.importObject, kernels: kernels.imports });
  kernels.attach(instance);
  gpu.attach(instance);
  await go.run(instance);
  exit("");
}

/** @type {Promise<void>} */
let prepared;
self.onmessage = ({ data }) => {
  if (data?.type === "init") {
    postMessage({ type: "version", id: 0, text: VERSION });
    if (data.version === VERSION) prepared = prepare(data);
    else {
      // No page has this protocol, and whichever it is then says that it was updated.
      self.onmessage = null;
      postMessage({ type: "ready", id: 0, text: JSON.stringify({ protocol: 0 }) });
    }
  }
  if (data?.type !== "program") return;
  self.onmessage = null;
  prepared.then(() => run(data.module)).catch(ended);
};
