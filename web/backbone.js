// Runs the visitor's own model, an ONNX file, or a transformer's tokenizer, or both, for wasm/onnx.go:
//
//	backbone.base = …;                 // the folder of the site's scripts
//	const model = await backbone.open(file, bytes, signal, tokenizer);
//	const { shape, values } = await model.run("x", 1, [1, 3, 32, 32], floats, "y");
//	model.close();
//
// ONNX Runtime and the model are in a worker of their own, and so is what reads a tokenizer: what a
// file has them do, or take, ends with that, also in the midst of a call, and its memory is given
// back. The worker starts from text, so it has the page's policy; what runs in it comes from the
// site, when it is first asked for.

// serve is all that the worker of a model runs, beside the guard and the runtime.
/** @param {any} ort @param {string} program @param {typeof import("./tokenizer.mjs").feed} [feed] */
function serve(ort, program, feed) {
  // The runtime's memory may grow to so many pages of 64 KB: what a model asks for beyond
  // that is refused, and the rest is left to others.
  let most = 0;
  const { Memory } = WebAssembly;
  /** @type {WebAssembly.Memory | undefined} */
  let memory;
  WebAssembly.Memory = /** @type {any} */ (function(/** @type {WebAssembly.MemoryDescriptor} */ d) {
    return memory = new Memory({ ...d, maximum: Math.max(d.initial, Math.min(d.maximum ?? most, most)) });
  });
  /** @type {any} */
  let session;
  /** @type {Awaited<ReturnType<NonNullable<typeof feed>>> | undefined} */
  let fed; // texts, by a tokenizer

  /** @param {any} t */
  const tensor = (t) => ({ name: t.name, type: t.isTensor ? t.type : "no tensor",
    shape: t.isTensor ? Array.from(t.shape, (d) => typeof d === "number" && d >= 0 ? d : -1) : [] });

  // reason is what the runtime says of a fault, without where in its sources, on the
  // machine that built it, that was: a file and a line, and the function's signature or name.
  /** @param {any} e */
  const reason = (e) => String(e?.message ?? e).slice(0, 4000).replace(/^.*ERROR_MESSAGE: "?/s, "")
    .replace(/[^\s"']*\.(?:cc|cpp|cu|h|hpp):\d+ (?:[^()"]*?::~?[\w<>]+(?:\(\))?\((?:[^()]|\([^()]*\))*\)(?: const)? |\w+ )/g, "")
    .replace(/\[ONNXRuntimeError\] : \d+ : \w+ : /g, "").replace(/(?:[A-Za-z]:)?[\\/][^\s"']*[\\/](?=[^\s"'\\/]+\.(?:cc|cpp|cu|h|hpp|so)\b)/g, "").trim() || "no reason given";

  const answers = {
    /** @param {{ file: File, bytes: number, tokenizer?: File }} q */
    async open({ file, bytes, tokenizer }) {
      most = Math.floor(bytes / 65536);
      const response = await fetch(program);
      if (!response.ok) throw new Error(`ONNX Runtime did not load: the server answered ${response.status}`);
      ort.env.logLevel = "fatal";
      Object.assign(ort.env.wasm, { wasmBinary: await response.arrayBuffer(), numThreads: 1, proxy: false });
      session = await ort.InferenceSession.create(new Uint8Array(await file.arrayBuffer()), { executionProviders: ["wasm"], logSeverityLevel: 4 });
      fed = tokenizer && await feed?.(ort, session, tokenizer);
      return fed ? { inputs: fed.inputs, outputs: fed.outputs } : { inputs: session.inputMetadata.map(tensor), outputs: session.outputMetadata.map(tensor) };
    },
    /** @param {{ input: string, calls: number, shape: number[], values: Float32Array | Uint8Array | string[], output: string }} q */
    async run({ input, calls, shape, values, output }) {
      if (fed) return fed.run(/** @type {string[]} */ (values), output, shape[1] === 2);
      const size = values.length / calls;
      /** @type {Float32Array | undefined} */
      let all;
      let dims = "";
      for (let k = 0; k < calls; k++) {
        const x = new ort.Tensor(Array.isArray(values) ? "string" : values instanceof Uint8Array ? "uint8" : "float32", values.slice(k * size, (k + 1) * size), shape);
        const { [output]: y } = await session.run({ [input]: x }, [output]);
        if (y.type !== "float32") throw new Error(`the output ${output} is of ${y.type}, and float32 was declared`);
        all ??= new Float32Array(calls * y.size);
        dims ||= y.dims.join();
        if (y.dims.join() !== dims) throw new Error(`the output ${output} is [${dims}] of one row and [${y.dims}] of another`);
        all.set(y.data, k * y.size);
      }
      return { shape: dims.split(",").filter(Boolean).map(Number), values: all };
    },
  };

  onmessage = async ({ data }) => {
    try {
      const reply = await answers[/** @type {"open" | "run"} */ (data.type)](data);
      postMessage({ ...reply, memory: memory?.buffer.byteLength ?? 0 });
    } catch (e) {
      postMessage({ error: reason(e) });
    }
  };
  postMessage({});
}

// serveTokens is all that the worker of a tokenizer runs, beside the guard and what reads it.
/** @param {(file: File) => Promise<import("./tokenizer.mjs").Opened>} open */
function serveTokens(open) {
  /** @type {import("./tokenizer.mjs").Opened} */
  let tokenizer;
  onmessage = async ({ data: { type, file, values, shape, output } }) => {
    try {
      if (type === "run") return postMessage(tokenizer.run(values, output, shape[1] === 2));
      tokenizer = await open(file);
      postMessage({ inputs: [{ name: "text", type: "string", shape: [-1], pairs: true }], outputs: tokenizer.outputs });
    } catch (e) {
      postMessage({ error: String(e?.message ?? e).slice(0, 4000) });
    }
  };
  postMessage({});
}

// Model is a model that is open. It answers one question after the other.
class Model {
  #worker;
  /** @type {{ resolve(reply: any): void, reject(e: Error): void } | undefined} */
  #asked;
  inputs = "";
  outputs = "";
  memory = 0; // bytes that the runtime holds

  /** @param {string} base @param {boolean} tokens the file is a tokenizer's @param {boolean} fed one is beside it */
  constructor(base, tokens, fed) {
    const at = (/** @type {string} */ name) => JSON.stringify(new URL(name, base).href);
    const text = `import ${at("guard.js")}; ` + (tokens
      ? `import { open } from ${at("tokenizer.js")}; (${serveTokens})(open);`
      : `import * as ort from ${at("ort/ort.js")}; ${fed ? `import { feed } from ${at("tokenizer.js")}; ` : ""}(${serve})(ort, ${at("ort/ort.wasm")}${fed ? ", feed" : ""});`);
    const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    this.#worker = new Worker(url, { type: "module" });
    this.#worker.onmessage = ({ data }) => {
      if (data.error !== undefined) this.#asked?.reject(new Error(data.error));
      else {
        this.memory = data.memory ?? 0;
        this.#asked?.resolve(data);
      }
    };
    this.#worker.onerror = (e) => {
      e.preventDefault();
      this.#asked?.reject(new Error(e.message || (tokens ? "what reads tokenizers" : "ONNX Runtime") + " did not load from the site"));
    };
    this.started = this.#answer().finally(() => URL.revokeObjectURL(url));
  }

  #answer() {
    return new Promise((resolve, reject) => { this.#asked = { resolve, reject }; });
  }

  /** @param {object} question @param {Transferable[]} moved */
  ask(question, moved = []) {
    const answer = this.#answer();
    this.#worker.postMessage(question, moved);
    return answer;
  }

  // run gives the output for each of so many inputs, one after the other.
  /** @param {string} input @param {number} calls @param {number[]} shape @param {Float32Array | Uint8Array | string[]} values @param {string} output */
  run(input, calls, shape, values, output) {
    return this.ask({ type: "run", input, calls, shape, values, output }, Array.isArray(values) ? [] : [/** @type {ArrayBuffer} */ (values.buffer)]);
  }

  // close ends the worker, and what it was asked.
  close() {
    this.#worker.terminate();
    this.#asked?.reject(new Error("the model was closed"));
  }
}

export const backbone = {
  base: "",
  // open has the runtime take so many bytes of memory at most, and ends with signal. A model of tokens takes texts by its tokenizer.
  /** @param {File} file @param {number} bytes @param {AbortSignal} signal @param {File} [tokenizer] */
  async open(file, bytes, signal, tokenizer) {
    const model = new Model(backbone.base, /\.(?:json|txt)$/i.test(file.name), tokenizer !== undefined);
    signal.addEventListener("abort", () => model.close());
    try {
      await model.started;
      const { inputs, outputs } = await model.ask({ type: "open", file, bytes, tokenizer });
      model.inputs = JSON.stringify(inputs);
      model.outputs = JSON.stringify(outputs);
      return model;
    } catch (e) {
      model.close();
      throw e;
    }
  },
};
