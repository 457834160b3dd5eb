// Loads the SIMD kernels beside a Go program. A classic script, for workers
// (importScripts) and for Node (go_wasm_exec.mjs):
//
//	const K = clipscopeKernels;
//	await K.load(async (name) => WebAssembly.compileStreaming(fetch(name)));
//	const instance = await WebAssembly.instantiate(trainer, { ...go.importObject, kernels: K.imports });
//	K.attach(instance);
//	go.run(instance);
//
// The kernels have a memory of their own, so they are there before Go is, and Go
// calls them directly. Go reads clipscopeKernels.bound to learn which it has.
"use strict";

globalThis.clipscopeKernels = (() => {
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
  const files = { relaxed: "kernels-relaxed.wasm", simd128: "kernels.wasm" };
  /** @type {any} */
  let kernels = null; // the exports of their module
  /** @type {any} */
  let memory = null; // Go's

  /** @returns {any} */
  const none = () => { throw new Error("there are no kernels"); };
  /** @type {(at: number, bytes: number) => Uint8Array} */
  const theirs = (at, bytes) => new Uint8Array(kernels.memory.buffer, at >>> 0, bytes);
  /** @type {(at: number, bytes: number) => Uint8Array} */
  const gos = (at, bytes) => new Uint8Array(memory.buffer, at >>> 0, bytes);
  /** @type {(make: () => number, bytes: number) => number} */
  const room = (make, bytes) => {
    try {
      return make();
    } catch {
      throw new RangeError(`out of memory: the kernels cannot have ${bytes} bytes more than ${kernels.memory.buffer.byteLength}`);
    }
  };

  /** @type {typeof clipscopeKernels} */
  const self = {
    // bound is the kind of kernels that Go has: "relaxed", "simd128" or "none".
    bound: "none",

    // choose returns the best kind that this engine runs.
    choose() {
      for (const kind of /** @type {const} */ (["relaxed", "simd128"])) {
        if (WebAssembly.validate(probes[kind])) return kind;
      }
      return "none";
    },

    // file is the name of the module of a kind; undefined for "none".
    file(kind) { return files[kind]; },

    // imports is what a Go program that may use the kernels imports. Addresses of
    // the kernels' memory come first, Go's own second.
    imports: {
      run: none, newSums: none, freeSums: none, alloc: none, free: none,
      write(to, from, bytes) { theirs(to, bytes).set(gos(from, bytes)); },
      read(from, to, bytes) { gos(to, bytes).set(theirs(from, bytes)); },
    },

    // id is the number of a kernel for run, negative where there is none.
    id(name) { return kernels?.[`id_${name}`]?.value ?? -1; },

    // load chooses, and has compile(name) make the module. Without kernels, by
    // choice or by failure, Go runs all the same: bound stays "none". It returns
    // bound.
    async load(compile, kind = self.choose()) {
      const file = files[kind];
      if (file === undefined) return self.bound;
      try {
        const instance = await WebAssembly.instantiate(await compile(file), {});
        kernels = instance.exports;
        const { run, free, freeSums } = kernels;
        Object.assign(self.imports, {
          run, free, freeSums,
          newSums: /** @param {number} n */ (n) => room(() => kernels.newSums(n), 4 * n),
          alloc: /** @param {number} bytes */ (bytes) => room(() => {
            const at = kernels.alloc(bytes);
            kernels.clearBytes(at, bytes);
            return at;
          }, bytes),
        });
        self.bound = kind;
      } catch (err) {
        console.warn(`clipscope: no SIMD kernels: ${err.message}`);
      }
      return self.bound;
    },

    // attach says whose memory Go's addresses are of.
    attach(goInstance) { memory = goInstance.exports.mem; },
  };
  return self;
})();
