// Loads the SIMD kernels beside a Go program. A classic script, for workers
// (importScripts) and for Node (go_wasm_exec.mjs):
//
//	const K = clipscopeKernels;
//	const module = await WebAssembly.compileStreaming(fetch("trainer.wasm"));
//	const instance = await WebAssembly.instantiate(module, { ...go.importObject, ...K.imports() });
//	await K.load(instance, async (name) => WebAssembly.compileStreaming(fetch(name)));
//	go.run(instance);
//
// The kernels work on Go's own memory, so Go must be instantiated first, with
// trampolines for its imports, which bind then points at the kernels.
// Go reads clipscopeKernels.bound to learn which kernels it has.
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
  let kernels = null; // the exports of the module that is bound

  /** @type {(name: string) => (...args: any[]) => any} */
  const trampoline = (name) => (a, b, c, d, e, f, g, h, i, j, k) => kernels[name](a, b, c, d, e, f, g, h, i, j, k);

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

    // imports is what a Go program that may use the kernels imports, to be
    // merged into its import object.
    imports() {
      return { kernels: new Proxy({}, { get: (_, name) => trampoline(String(name)) }) };
    },

    // bind instantiates a compiled kernel module on the memory of a Go instance
    // that was given imports().
    async bind(goInstance, module, kind) {
      const instance = await WebAssembly.instantiate(module, { env: { memory: /** @type {WebAssembly.Memory} */ (goInstance.exports.mem) } });
      kernels = instance.exports;
      self.bound = kind;
    },

    // load chooses, has compile(name) make the module, and binds it. Without
    // kernels, by choice or by failure, Go runs all the same: bound stays
    // "none". It returns bound.
    async load(goInstance, compile, kind = self.choose()) {
      const file = files[kind];
      if (file === undefined) return self.bound;
      try {
        await self.bind(goInstance, await compile(file), kind);
      } catch (err) {
        console.warn(`clipscope: no SIMD kernels: ${err.message}`);
      }
      return self.bound;
    },
  };
  return self;
})();
