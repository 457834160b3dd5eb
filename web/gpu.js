// Drives the GPU for core/compute/webgpu:
//
//	gpu.attach(instance);   // of the Go program, whose memory is read
//
// Go hands over a submission in one call, as words (stream.go says which); they are
// replayed here into one command buffer, in one pass, but for copies, which WebGPU
// wants outside of passes.

/** @type {any} */
let memory = null; // Go's

/** @type {(at: number, n: number) => Uint32Array} */
const words = (at, n) => new Uint32Array(memory.buffer, at >>> 0, n);

// A browser's flags for what a buffer is for and a binding is seen by.
const MAP_READ = 1, COPY_SRC = 4, COPY_DST = 8, UNIFORM = 64, STORAGE = 128, COMPUTE = 4;

const LARGE = 64 << 20; // bytes of a staging buffer that is not kept
const LAZY = /Firefox/.test(globalThis.navigator?.userAgent ?? "");

// still is what nobody ever wakes, for a thread to sleep on; not to be had everywhere.
const still = typeof SharedArrayBuffer === "function" ? new Int32Array(new SharedArrayBuffer(4)) : null;

// request asks for an adapter, and what is said of it.
async function request() {
  const adapter = await /** @type {any} */ (globalThis.navigator).gpu.requestAdapter({ powerPreference: "high-performance" });
  if (!adapter) throw new Error("the browser gives no adapter");
  const info = adapter.info ?? {};
  return {
    given: adapter,
    adapter: [info.vendor, info.architecture, info.device, info.description].filter(Boolean).join(" ") || "unknown",
    fallback: Boolean(info.isFallbackAdapter ?? adapter.isFallbackAdapter),
  };
}

// find says which adapter open would get.
const find = async () => {
  const { adapter, fallback } = await request();
  return { adapter, fallback };
};

/** @typedef {{ name: string, code: string, entry: string }} Program */

/** @param {Program[]} programs @param {number} slot bytes of one kernel's arguments @param {number} slots of a submission at most */
async function open(programs, slot, slots) {
  const found = await request();
  const { maxBufferSize, maxStorageBufferBindingSize } = found.given.limits;
  const device = await found.given.requestDevice({ requiredLimits: { maxBufferSize, maxStorageBufferBindingSize } });
  const layout = device.createBindGroupLayout({ entries: [
    { binding: 0, visibility: COMPUTE, buffer: { type: "storage" } },
    { binding: 1, visibility: COMPUTE, buffer: { type: "uniform", hasDynamicOffset: true, minBindingSize: slot } },
  ] });
  const parameters = device.createBuffer({ size: slot * slots, usage: UNIFORM | COPY_DST });
  return new GPU(found, device, programs, layout, parameters, slot);
}

class GPU {
  /** @param {{ adapter: string, fallback: boolean }} found @param {any} device @param {Program[]} programs @param {any} layout @param {any} parameters @param {number} slot */
  constructor(found, device, programs, layout, parameters, slot) {
    this.adapter = found.adapter;
    this.fallback = found.fallback;
    this.most = Math.min(device.limits.maxBufferSize, device.limits.maxStorageBufferBindingSize);
    this.device = device;
    this.layout = layout;
    this.programs = programs;
    this.within = device.createPipelineLayout({ bindGroupLayouts: [layout] });
    /** @type {Map<string, any>} */ this.modules = new Map(); // by the kernel's name
    /** @type {any[]} */ this.pipelines = [];
    this.parameters = parameters;
    this.slot = slot;
    /** @type {any} */ this.heap = null;
    /** @type {any} */ this.group = null;
    this.size = 0;
    this.number = 0;
    this.mark = device.createBuffer({ size: 4, usage: COPY_SRC | COPY_DST });
    this.mapping = 0; // buffers that are not there yet
    this.mapped = 0; // when the last of them was asked for
    this.nudging = false;
    /** @type {Map<number, any>} */ this.coming = new Map(); // staging buffers, by submission
    /** @type {Map<number, Uint32Array>} */ this.come = new Map(); // and what is in those that are there
    /** @type {Map<number, any[]>} */ this.spare = new Map(); // and those that nobody uses, by size
    /** @type {(number: number, why: string) => void} Go's */
    this.told = () => {};
    this.gone = ""; // why, where it is
    const gone = (/** @type {string} */ why) => {
      this.gone ||= why;
      this.told(-1, this.gone);
    };
    device.lost.then((/** @type {any} */ { message, reason }) => gone(message || reason || "for no known reason"));
    device.addEventListener("uncapturederror", (/** @type {any} */ e) => {
      gone(e.error.message);
      device.destroy();
    });
  }

  // compile makes the pipelines of programs, side by side: those that a model needs, when they are
  // first called. A model needs a third of them, and all take seven seconds where the adapter
  // is a program.
  /** @param {number[]} programs their numbers */
  async compile(programs) {
    const { device, modules, pipelines } = this;
    await Promise.race([device.lost.then(() => { throw new Error("the GPU is gone"); }), Promise.all(programs.map(async (i) => {
      const { name, code, entry } = this.programs[i];
      const module = modules.get(name) ?? device.createShaderModule({ label: name, code });
      modules.set(name, module);
      pipelines[i] = await device.createComputePipelineAsync({ label: `${name}.${entry}`, layout: this.within, compute: { module, entryPoint: entry } });
    }))]);
  }

  // grow makes a heap of so many bytes, with what the last one held, and says whether there
  // is so much memory: a GPU that refuses it keeps the last one, and is not lost.
  /** @param {number} bytes */
  async grow(bytes) {
    if (bytes > this.most) return false;
    const { device, layout } = this;
    device.pushErrorScope("out-of-memory");
    const heap = device.createBuffer({ size: bytes, usage: STORAGE | COPY_SRC | COPY_DST });
    if (await Promise.race([device.popErrorScope(), device.lost])) {
      heap.destroy();
      return false;
    }
    if (this.heap) {
      const encoder = device.createCommandEncoder();
      encoder.copyBufferToBuffer(this.heap, 0, heap, 0, this.size);
      device.queue.submit([encoder.finish()]);
      this.heap.destroy();
    }
    this.heap = heap;
    this.size = bytes;
    this.group = device.createBindGroup({ layout, entries: [
      { binding: 0, resource: { buffer: heap } },
      { binding: 1, resource: { buffer: this.parameters, offset: 0, size: this.slot } },
    ] });
    return true;
  }

  /** @param {number} to @param {number} from @param {number} bytes */
  write(to, from, bytes) {
    this.device.queue.writeBuffer(this.heap, to, memory.buffer, from >>> 0, bytes);
  }

  // submit replays a stream, and returns the number by which Go is told when what it
  // fetched is there.
  /** @param {number} at @param {number} n @param {number} args @param {number} argWords @param {number} staged words */
  submit(at, n, args, argWords, staged) {
    const { device, heap, group, pipelines, slot } = this, stream = words(at, n);
    if (argWords) device.queue.writeBuffer(this.parameters, 0, memory.buffer, args >>> 0, 4 * argWords);
    const number = this.number++, staging = staged ? this.staging(4 * staged + 4) : null;
    if (staging) device.queue.writeBuffer(this.mark, 0, new Uint32Array([number]));
    const encoder = device.createCommandEncoder();
    let pass = null;
    for (let i = 0, offset = 0; i < n;) {
      if (stream[i] === 1) { // opRun
        pass ??= encoder.beginComputePass();
        pass.setPipeline(pipelines[stream[i + 1]]);
        pass.setBindGroup(0, group, [offset]);
        pass.dispatchWorkgroups(stream[i + 2], stream[i + 3], stream[i + 4]);
        offset += slot;
        i += 5;
      } else { // opCopy
        pass?.end();
        pass = null;
        encoder.copyBufferToBuffer(heap, 4 * stream[i + 1], staging, 4 * stream[i + 2], 4 * stream[i + 3]);
        i += 4;
      }
    }
    pass?.end();
    if (staging) encoder.copyBufferToBuffer(this.mark, 0, staging, 4 * staged, 4);
    device.queue.submit([encoder.finish()]);
    if (staging) {
      this.coming.set(number, staging);
      this.map(number, staging, 4 * staged);
    }
    return number;
  }

  // map tells Go when a submission is done. One that the browser refused is not run,
  // and its staging buffer may be mapped all the same, with what another has left
  // there: so each ends with its number. A buffer whose device was closed meanwhile may
  // be told as mapped, and then be none when its bytes are asked for.
  /** @param {number} number @param {any} staging @param {number} bytes */
  map(number, staging, bytes) {
    const told = (why = "") => {
      this.mapping--;
      this.told(number, why);
    };
    staging.mapAsync(MAP_READ, 0, bytes + 4).then(() => {
      const words = new Uint32Array(staging.getMappedRange(0, bytes + 4));
      this.come.set(number, words);
      return words[bytes / 4] === number ? "" : "the browser refused what was to be computed";
    }).catch((/** @type {Error} */ e) => e.message).then(told);
    this.mapping++;
    this.mapped = performance.now();
    if (LAZY && !this.nudging) this.nudge();
  }

  // nudge has Firefox look whether the GPU is done, which by itself it does ten times a
  // second: an empty submission makes it look at once. Where the adapter is a program, it
  // has the processor meanwhile, and is not to share it with one that only looks.
  nudge() {
    const { port1, port2 } = new MessageChannel();
    let last = performance.now();
    this.nudging = true;
    port1.onmessage = () => {
      const now = performance.now();
      if (!this.mapping || now - this.mapped > 1000) { // what takes longer may wait
        this.nudging = false;
        return port1.close();
      }
      if (now - last >= 1) {
        this.device.queue.submit([]);
        last = now;
      }
      if (still && this.fallback) Atomics.wait(still, 0, 0, 0.5);
      port2.postMessage(0);
    };
    port2.postMessage(0);
  }

  // staging is a buffer to read, of a size class.
  /** @param {number} bytes */
  staging(bytes) {
    const size = 2 ** Math.max(8, Math.ceil(Math.log2(bytes)));
    return this.spare.get(size)?.pop() ?? this.device.createBuffer({ size, usage: MAP_READ | COPY_DST });
  }

  // take copies what a submission fetched into Go's memory, if it is still there: a device
  // that is closed takes with it the bytes of all that it has told as mapped.
  /** @param {number} number @param {number} to @param {number} n words */
  take(number, to, n) {
    const staging = this.coming.get(number), come = /** @type {Uint32Array} */ (this.come.get(number));
    this.coming.delete(number);
    this.come.delete(number);
    if (!come.length) return false;
    words(to, n).set(come.subarray(0, n));
    staging.unmap();
    const spare = this.spare.get(staging.size) ?? [];
    this.spare.set(staging.size, spare);
    if (spare.length < 4 && staging.size <= LARGE) spare.push(staging);
    else staging.destroy();
    return true;
  }

  close() {
    this.told = () => {};
    this.device.destroy();
  }
}

export const gpu = {
  /** @param {WebAssembly.Instance} instance */
  attach(instance) { memory = /** @type {any} */ (instance.exports).mem; },
  there: Boolean(/** @type {any} */ (globalThis.navigator)?.gpu),
  find,
  open,
};
