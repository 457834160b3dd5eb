// What a browser, a setting of it or a policy may take away, each alone: the page trains the
// digits all the same, and says where that costs something, or says by name what it cannot do
// without.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, stage } from "./browser.mjs";

const { server, alone } = await stage();

// everywhere is a script that runs f before all others of the page, and of its workers, which
// begin with a text of ours.
const everywhere = (/** @type {Function} */ f) => `(${/** @param {string} first */ (first) => {
  const was = Blob;
  Object.assign(globalThis, { Blob: class extends was {
    /** @param {any[]} parts @param {BlobPropertyBag} [options] */
    constructor(parts, options) { super(options?.type === "text/javascript" ? [first, ...parts] : parts, options); }
  } });
}})(${JSON.stringify(`(${f})();\n`)});\n(${f})();`;

// gone deletes names of the global object, or of what a path leads to.
const gone = (/** @type {string} */ path) => Function(`
  let of = globalThis;
  const names = ${JSON.stringify(path.split("."))}, last = names.pop();
  for (const name of names) of = of?.[name];
  if (of) for (let at = of; at && at !== Object.prototype; at = Object.getPrototypeOf(at)) delete at[last];`);

// With "says" the result's notes say so; with "needs" the page runs nothing and says why.
/** @type {Record<string, { take?: Function, says?: RegExp, needs?: RegExp, once?: true }>} */
const TABLE = {
  "SharedArrayBuffer": { says: /One thread instead of 2: the browser gives this page no SharedArrayBuffer/, once: true },
  "Atomics": { says: /One thread instead of 2: the browser gives this page no Atomics/ },
  "Atomics.waitAsync": {},
  "shared memory of WebAssembly": {
    take: () => {
      const was = WebAssembly.Memory;
      WebAssembly.Memory = /** @type {any} */ (class extends was {
        /** @param {WebAssembly.MemoryDescriptor} d */
        constructor(d) { if (d.shared) throw new TypeError("no shared memory"); super(d); }
      });
    },
    says: /One thread instead of 2: the browser has no memory that threads could share/,
  },
  "SIMD": { take: () => { WebAssembly.validate = () => false; }, says: /purego|SIMD/i },
  "relaxed SIMD": { take: () => { const was = WebAssembly.validate; WebAssembly.validate = (b) => was(b) && /** @type {Uint8Array} */ (b).length < 70; } },
  "more than one core": { take: () => Object.defineProperty(Object.getPrototypeOf(navigator), "hardwareConcurrency", { get: () => undefined }) },
  "workers of workers": { take: () => { if (typeof document === "undefined") delete (/** @type {any} */ (globalThis)).Worker; }, says: /1 of 2 threads: a worker could not be started/ },
  "Worker": { needs: /no Worker, in which runs compute/ },
  "WebAssembly": { needs: /no WebAssembly, which/ },
  "WebAssembly.compileStreaming": {},
  "crypto.getRandomValues": { needs: /no crypto\.getRandomValues, which all noise is drawn from/ },
  "crypto.subtle": {},
  "navigator.gpu": {},
  "OffscreenCanvas": {},
  "createImageBitmap": {},
  "indexedDB": {},
  "IDBKeyRange": { once: true },
  "IDBFactory": {},
  "BroadcastChannel": {},
  "navigator.locks": {},
  "navigator.storage": {},
  "folders of its own": { take: () => { StorageManager.prototype.getDirectory = () => Promise.reject(new DOMException("denied", "SecurityError")); } },
  "files in its folders": {
    take: () => {
      for (const name of ["createSyncAccessHandle", "createWritable"]) Object.defineProperty(FileSystemFileHandle.prototype, name, { value: () => Promise.reject(new DOMException("full", "QuotaExceededError")) });
    },
  },
  "navigator.serviceWorker": {},
  "caches": {},
  "localStorage": {},
  "sessionStorage": {},
  "storage, with cookies blocked": {
    take: () => {
      for (const name of ["localStorage", "sessionStorage", "indexedDB", "caches"]) {
        if (name in globalThis) Object.defineProperty(globalThis, name, { configurable: true, get() { throw new DOMException("The user denied permission", "SecurityError"); } }); // a worker's text has this twice: the page's and the guard's blob
      }
    },
    once: true,
  },
  "ResizeObserver": { once: true },
  "IntersectionObserver": {},
  "PerformanceObserver": {},
  "structuredClone": {},
  "reportError": {},
  "CompressionStream": {},
  "DecompressionStream": {},
  "TransformStream": { once: true },
  "showSaveFilePicker": {},
  "navigator.clipboard": {},
  "navigation": {},
  "requestIdleCallback": {},
  "matchMedia": {},
  "Notification": {},
  "navigator.userActivation": {},
  "navigator.wakeLock": {},
};

const LONG = Boolean(process.env.CLIPSCOPE_TRIALS), only = process.env.CLIPSCOPE_ONLY;
const STEPS = "#data=digits&model.kind=softmax&noise_multiplier=1&expected_batch_size=64&steps=12&threads=2&backend=simd";

for (const [name, { take, says, needs, once }] of Object.entries(TABLE)) {
  test(`the page without ${name} ${needs ? "says what it needs" : "trains the digits"}`, { skip: only ? only !== name : !LONG && !once && "with CLIPSCOPE_TRIALS" }, async (t) => {
    const context = await alone(t);
    await context.addInitScript({ content: everywhere(take ?? gone(name)) });
    const page = await context.newPage(), errors = [];
    page.on("pageerror", (e) => errors.push(e.message));
    await page.goto(server.url + (says?.source.includes("purego") ? STEPS.replace("backend=simd", "backend=auto") : STEPS));
    if (needs) {
      await eventually(async () => assert.match(await page.locator("#loading:visible, [role=alert]:visible, .fault:visible").first().innerText(), needs));
      return;
    }
    await page.locator("#act-start[aria-disabled=false]").click();
    await page.locator("#statement").waitFor();
    const notes = await eventually(async () => {
      const text = await page.locator("#result").innerText();
      assert.match(text, /of 12|12 steps|\b12\b/);
      return text;
    });
    if (says) await eventually(async () => assert.match(/** @type {string} */ (await page.locator("main").textContent()), says));
    else assert.ok(notes);
    assert.deepEqual(errors, []);
  });
}
