// Loads the SIMD kernels beside a Go program, in workers and in Node (go_wasm_exec.mjs):
//
//	await kernels.load(async (name) => WebAssembly.compileStreaming(fetch(name)));
//	const instance = await WebAssembly.instantiate(trainer, { ...go.importObject, kernels: kernels.imports });
//	kernels.attach(instance);
//	go.run(instance);
//
// The kernels have a memory of their own, so they are there before Go is, and Go
// calls them directly. Go reads kernels.bound to learn which it has.
//
// Where memory can be shared, the kernels' is, and team(n) starts workers that take
// part in the calls: core/compute/simd/team.ts says how. What a worker needs is
// handed to it, so starting one asks the network for nothing, and it ends with the
// worker that started it.
/** @import { Kernels, Kind, Started } from "./types.d.ts" */

// Modules of one function without parameters or results:
// v128.const 0, drop; and three of those, f32x4.relaxed_madd, drop.
/** @param {number[]} body */
const probe = (body) => new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0,
  10, body.length + 4, 1, body.length + 2, 0, ...body, 11,
]);
const zero = [253, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
const probes = {
  relaxed: probe([...zero, ...zero, ...zero, 253, 133, 2, 26]),
  simd128: probe([...zero, 26]),
};
/** @type {Partial<Record<Kind, string>>} */
const files = { relaxed: "kernels-relaxed", simd128: "kernels" };
const cores = globalThis.navigator?.hardwareConcurrency || 1;
/** @type {any} */
let wasm = null; // the exports of their module
/** @type {WebAssembly.Module} */
let module;
/** @type {any} */
let own = null; // the kernels' memory
/** @type {any} */
let memory = null; // Go's

/** @returns {any} */
const none = () => { throw new Error("there are no kernels"); };
/** @type {(at: number, bytes: number) => Uint8Array} */
const theirs = (at, bytes) => new Uint8Array(own.buffer, at >>> 0, bytes);
/** @type {(at: number, bytes: number) => Uint8Array} */
const gos = (at, bytes) => new Uint8Array(memory.buffer, at >>> 0, bytes);
/** @type {(make: () => number, bytes: number) => number} */
const room = (make, bytes) => {
  try {
    return make();
  } catch {
    throw new RangeError(`out of memory: the kernels cannot have ${bytes} bytes more than ${own.buffer.byteLength}`);
  }
};

// shared is memory that threads can share, or undefined. It takes addresses for the
// most that it may become, which not every system has to spare.
function shared() {
  if (globalThis.crossOriginIsolated === false) {
    kernels.alone = kernels.apart || "the page is not isolated from other sites";
    return undefined;
  }
  for (const name of ["SharedArrayBuffer", "Atomics"]) {
    if (name in globalThis) continue;
    kernels.alone = `the browser gives this page no ${name}, which threads share memory by`;
    return undefined;
  }
  for (const maximum of [65536, 32768, 16384]) {
    try {
      return new WebAssembly.Memory({ initial: 1, maximum, shared: true });
    } catch { /* less, then */ }
  }
  kernels.alone = "the browser has no memory that threads could share";
  return undefined;
}

// thread is all that a worker of the team runs. It spins after a part for a quarter of a
// millisecond, which is longer than a step of a small model goes on without parts, as to
// be woken takes longer than many a part; and then it sleeps, at once where there are
// fewer cores than threads. It hears no message any more, and is ended from outside.
function thread() {
  onmessage = async ({ data }) => {
    // As in team.ts, in words of four bytes.
    const TICKET = 0, SLEEPING = 32, TURNS = data.crowded ? 1 : 500000;
    /** @type {any} */
    const { exports } = await WebAssembly.instantiate(data.module, { env: { memory: data.memory } });
    exports.join(data.team);
    const state = new Int32Array(data.memory.buffer, data.team, 48);
    postMessage("ready");
    const work = () => {
      for (;;) {
        try {
          const ticket = exports.help(TURNS);
          Atomics.add(state, SLEEPING, 1);
          Atomics.wait(state, TICKET, ticket);
          Atomics.sub(state, SLEEPING, 1);
        } catch {
          exports.fail();
        }
      }
    };
    setTimeout(work); // once the message is on its way
  };
}

// share keeps to this run's part of the cores, which any step may find changed, and to as
// many threads as help.
let sharing = 1;
function share() {
  const runs = kernels.running ? Atomics.load(kernels.running, 0) : 1;
  const n = Math.max(1, Math.min(kernels.threads, kernels.useful, Math.floor(kernels.cores() / Math.max(runs, 1))));
  if (n !== sharing) wasm.share(sharing = n, kernels.least);
}

/** @type {Started[]} */
const helpers = [];
let team = 0; // where it is

// start resolves when a worker has joined the team. It is crowded where there are
// more threads than cores.
/** @param {boolean} crowded */
async function start(crowded) {
  const worker = kernels.spawn(`(${thread})()`);
  await new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error("it did not answer")), 30000);
    worker.onmessage = () => {
      clearTimeout(late);
      helpers.push(worker);
      resolve(undefined);
    };
    worker.onerror = (e) => {
      clearTimeout(late);
      worker.terminate();
      reject(new Error(e.message || "its script did not run"));
    };
    worker.postMessage({ module, memory: own, team, crowded });
  });
}

/** @type {Kernels} */
export const kernels = {
  // bound is the kind of kernels that Go has: "relaxed", "simd128" or "none".
  bound: "none",

  // threads is how many share a call, alone why there can only be one; apart is what
  // alone says where memory cannot be shared. With fair they are fewer while the page
  // counts several runs in running.
  threads: 1,
  fair: false,

  // useful is how many of them help, as Go measures, and use says so.
  useful: Infinity,
  use(n) {
    kernels.useful = n;
    if (kernels.fair && kernels.threads > 1) share();
  },

  running: undefined,
  alone: "there are no kernels",
  apart: "",

  // least is what a call must cost for two threads to be worth it, in values read
  // and written: some microseconds.
  least: 20000,

  // choose returns the best kind that this engine runs.
  choose() {
    for (const kind of /** @type {const} */ (["relaxed", "simd128"])) {
      if (WebAssembly.validate(probes[kind])) return kind;
    }
    return "none";
  },

  // spawn starts a worker from a text.
  spawn(text) {
    const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    const worker = new Worker(url);
    setTimeout(() => URL.revokeObjectURL(url), 60000);
    return worker;
  },

  // cores is how many threads are worth starting.
  cores() { return Math.min(cores, 8); },

  // team has calls shared by n threads from now on, or by as many as can be
  // started: fewer than n say why in alone. With fair they leave cores to other runs.
  // It returns how many.
  async team(n, fair) {
    kernels.fair = fair ?? false;
    if (!kernels.alone) {
      const started = await Promise.allSettled(Array.from({ length: Math.max(n - 1 - helpers.length, 0) }, () => start(n > cores)));
      const failed = started.find((s) => s.status === "rejected");
      if (failed) kernels.alone = `a worker could not be started (${failed.reason.message})`;
    }
    return kernels.share(n);
  },

  // share is team with those who have been started.
  share(n) {
    kernels.useful = Infinity;
    kernels.threads = sharing = Math.max(1, Math.min(n, helpers.length + 1));
    wasm?.share?.(sharing, kernels.least);
    return sharing;
  },

  // imports is what a Go program that may use the kernels imports. Addresses of
  // the kernels' memory come first, Go's own second.
  imports: {
    run: none, takeBack: none, newSums: none, freeSums: none, alloc: none, free: none,
    write(to, from, bytes) { theirs(to, bytes).set(gos(from, bytes)); },
    read(from, to, bytes) {
      gos(to, bytes).set(theirs(from, bytes));
      if (kernels.fair && kernels.threads > 1) share();
    },
  },

  // id is the number of a kernel for run, negative where there is none.
  id(name) { return wasm?.[`id_${name}`]?.value ?? -1; },

  // load chooses, and has compile(name) make the module. Without kernels, by
  // choice or by failure, Go runs all the same: bound stays "none". It returns
  // bound.
  async load(compile, kind = kernels.choose()) {
    const file = files[kind];
    if (file === undefined) return kernels.bound;
    try {
      kernels.alone = "";
      own = shared();
      module = await compile(file + (own ? "-threads.wasm" : ".wasm"));
      wasm = (await WebAssembly.instantiate(module, { env: { memory: own } })).exports;
      own ??= wasm.memory;
      if (!kernels.alone) team = wasm.found();
      const { run, takeBack, free, freeSums } = wasm;
      Object.assign(kernels.imports, {
        run, takeBack, free, freeSums,
        newSums: /** @param {number} n */ (n) => room(() => wasm.newSums(n), 4 * n),
        alloc: /** @param {number} bytes */ (bytes) => room(() => {
          const at = wasm.alloc(bytes);
          wasm.clearBytes(at, bytes);
          return at;
        }, bytes),
      });
      kernels.bound = kind;
    } catch (err) {
      console.warn(`clipscope: no SIMD kernels: ${err.message}`);
    }
    return kernels.bound;
  },

  // attach says whose memory Go's addresses are of.
  attach(goInstance) { memory = goInstance.exports.mem; },
};
