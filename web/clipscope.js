// The page's client of the trainer workers, and its scripting API:
// window.clipscope. docs/scripting.md documents it for users; the messages are described
// in wasm/worker/protocol.go. Nothing is computed on the page's thread.
import { Ledger, random, surface } from "./ledger.js";
import { program } from "./program.js";
import { base } from "./site.js";
import { fail, hear, say } from "./wire.js";
/** @import { Book } from "./ledger.js" */
/** @import { Ask, Files, Identify, Invitation, Joining, LedgerRecord, Message, Plan, Result, Source } from "./types.d.ts" */

// PROTOCOL must equal run.ProtocolVersion: an old page can meet a new worker.
const PROTOCOL = 10;
const VERSION = "__VERSION__"; // filled in when the site is generated

// A worker that starts from text has the page's policy, whatever headers the host
// sends with scripts; one that starts from a file has those of the file alone.
const scripts = JSON.stringify(["guard.js", "../wasm_exec.js", "trainer-worker.js"].map((name) => new URL(name, base)));
const worker = URL.createObjectURL(new Blob([`const scripts = ${scripts};
  self.trustedTypes?.createPolicy("default", { createScriptURL: (url) => scripts.includes(url) || url.startsWith("blob:") ? url : null });
  importScripts(...scripts);`], { type: "text/javascript" }));

// Runs that have not ended: to load another version of the page would end them.
/** @type {Set<object>} */
export const unfinished = new Set();

// Those who are told of workers' requests to the host's services, by their addresses.
/** @type {Set<(addresses: string[]) => void>} */
export const asking = new Set();

// Runs that compute, which have the cores between them: counted where every worker
// can see it.
/** @type {Set<{ store(): void }>} */
const running = new Set();
const count = window.crossOriginIsolated && "SharedArrayBuffer" in self && "Atomics" in self ? new Int32Array(new SharedArrayBuffer(4)) : undefined;

// Pending is a request under way.
/** @typedef {{ resolve(reply: any): void, reject(e: Error): void, progress?(p: any): void }} Pending */

// Connection is one worker and the conversation with it.
class Connection {
  #worker = new Worker(worker);
  /** @type {Map<number, Pending>} */
  #pending = new Map(); // by the request's id
  #last = 0;
  /** @type {Error | undefined} */
  #gone; // what ended it
  #version = ""; // of its scripts
  /** @type {Run | undefined} */
  run; // in progress
  /** @type {string | undefined} */
  label; // what its files are called; undefined for built-in data
  files = ""; // their names, in words
  /** @type {string | undefined} */
  /** @type {Record<string, string>} */
  given = {}; // the SHA-256 of the weights (start) and the public rows (public) that it has for runs
  /** @type {string | undefined} */
  opening; // the name of what it reads
  /** @type {(() => void) | undefined} */
  onEnd;

  // A worker fetches its scripts and the kernels before there is a program for it.
  constructor() {
    this.#worker.onmessage = (e) => this.#receive(e.data);
    this.#worker.onerror = (e) => {
      e.preventDefault();
      const why = e.message || "its script did not load";
      this.end(fail(/out of memory/i.test(why) ? crash(why, this.opening) : `The trainer's worker could not run: ${why}.`));
    };
    this.#worker.postMessage({ type: "init", version: VERSION, base: base.href, life: this.#life, running: count, alone: clipscopeEarly.alone() });
  }

  // The two that every page needs, while its program is on its way.
  static #ahead = [1, 2].map(() => clipscopeEarly.stays.then(() => new Connection()).catch(() => undefined));

  // A worker may have ended while nobody had asked for it.
  static async #next() {
    for (let ahead; (ahead = Connection.#ahead.pop());) {
      const c = await ahead;
      if (c?.alive) return c;
    }
    return new Connection();
  }

  static async start() {
    const module = await program.catch((e) => {
      throw fail("The trainer could not be loaded: " + e.message + ". Reload the page.");
    });
    const c = await Connection.#next();
    await c.#hello(module);
    return c;
  }

  // A worker may be ended by the browser without a word, as where memory is short.
  // It holds a lock from when it says so for as long as it lives, so whoever gets the
  // lock knows.
  #life = "clipscope-trainer/" + Array.from(crypto.getRandomValues(new Uint32Array(4))).join("-");
  #watch() {
    navigator.locks?.request(this.#life, () => {
      this.end(fail("The trainer is gone without a word, as when the browser ends it to save memory. Only this run is lost: " +
        "close other tabs, or take a smaller model or a smaller max_physical_batch_size, and start it again.", { kind: "crash" }));
    }).catch(() => {}); // then the worker has none either
  }

  /** @param {WebAssembly.Module} module */
  #hello(module) {
    if (this.#gone) return Promise.reject(this.#gone);
    return new Promise((resolve, reject) => {
      this.#pending.set(0, { resolve, reject });
      this.#worker.postMessage({ type: "program", module });
    });
  }

  /** @param {Message} m */
  #receive(m) {
    switch (m.type) {
      case "version":
        this.#version = m.text;
        return;
      case "asked":
        for (const fn of asking) fn(hear(m.text));
        return;
      case "held":
        this.#watch();
        return;
      case "ready": {
        const ready = hear(m.text);
        if (ready.protocol !== PROTOCOL || this.#version !== VERSION) {
          this.end(fail("The page was updated while it was open. Reload it to go on."));
          return;
        }
        this.#settle(0, (p) => p.resolve(ready));
        return;
      }
      case "reply":
        this.#settle(m.id, (p) => p.resolve(m.blob ? Object.assign(m.blob, { summary: hear(m.text) }) : hear(m.text)));
        return;
      case "error": {
        const f = hear(m.text);
        this.#settle(m.id, (p) => p.reject(fail(f.message, f.detail)));
        return;
      }
      case "progress":
        this.#pending.get(m.id)?.progress?.(hear(m.text));
        return;
      case "exit":
        this.end(fail(crash(m.text, this.opening), { kind: "crash", log: m.text }));
        return;
      default:
        if (this.run && this.run.id === m.id) this.run.receive(m);
    }
  }

  /** @param {number} id @param {(p: Pending) => void} f */
  #settle(id, f) {
    const p = this.#pending.get(id);
    this.#pending.delete(id);
    if (p) f(p);
  }

  // request resolves with the reply.
  /** @param {string} type @param {unknown} [body] @param {Files} [files] @param {Pending["progress"]} [progress] @returns {Promise<any>} */
  request(type, body, files, progress) {
    if (this.#gone) return Promise.reject(this.#gone);
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject, progress });
      try {
        this.#worker.postMessage({
          type, id, text: body === undefined ? undefined : say(body),
          train: files?.train, test: files?.test,
          paths: files && { train: files.train.map(clipscopeEarly.pathOf), test: files.test.map(clipscopeEarly.pathOf) },
        });
      } catch (e) {
        this.#pending.delete(id);
        reject(fail(type + ": " + e.message));
      }
    });
  }

  // identify is what makes, of a salt, that by which the files that are open are recognised;
  // tested: with their test rows.
  /** @type {Map<boolean, Identify>} */
  #identify = new Map();
  /** @param {boolean} tested @returns {Identify} */
  identify(tested) {
    const known = this.#identify.get(tested) ?? ((salt) => this.request("digest", { salt, tested }));
    this.#identify.set(tested, known);
    return known;
  }

  get nextID() { return this.#last + 1; }
  get alive() { return !this.#gone; }

  /** @param {string} type @param {number} id @param {unknown} [what] */
  tell(type, id, what) {
    if (!this.#gone) this.#worker.postMessage({ type, id, text: what === undefined ? undefined : say(what) });
  }

  // cancel calls a request off; the worker that has not let it go within a second is ended.
  /** @param {number} id */
  cancel(id) {
    if (!this.#pending.has(id)) return;
    this.tell("cancel", id);
    setTimeout(() => { if (this.#pending.has(id)) this.end(calledOff); }, 1000);
  }

  // end terminates the worker; whoever waits for it gets the reason.
  /** @param {Error} reason */
  end(reason) {
    if (this.#gone) return;
    this.#gone = reason;
    this.#worker.terminate();
    for (const p of this.#pending.values()) p.reject(reason);
    this.#pending.clear();
    this.run?.fail(reason);
    this.onEnd?.();
  }
}

// calledOff is the end of a worker that did not let go of a question.
const calledOff = fail("A question that was called off did not end. Ask again.");

// crash says in words what the last lines of a Go program that ended mean, perhaps
// while it was opening a file.
/** @param {string} log @param {string | undefined} opening */
function crash(log, opening) {
  if (/out of memory|cannot allocate/i.test(log)) {
    if (opening) return `There is not enough memory to open ${opening}. Use fewer rows or columns.`;
    return "The trainer ran out of memory, and only this run ended. Take a smaller model, a smaller max_physical_batch_size or fewer rows.";
  }
  const lines = log.split("\n").filter((l) => l.trim());
  const line = lines.find((l) => /^(panic|fatal error|RuntimeError)/.test(l)) ?? lines.at(-1) ?? "no reason given";
  const what = opening ? `; ${opening} was being opened` : "";
  return "The trainer ended unexpectedly (" + line.slice(0, 200) + what + "). Only this run is lost: start it again.";
}

// kept is a worker without data of its own, started when it is first asked for and
// again when it has ended.
function kept() {
  /** @type {Promise<Connection> | undefined} */
  let starting;
  /** @returns {Promise<Connection>} */
  return async function get() {
    const mine = starting ??= Connection.start();
    const forget = () => { if (starting === mine) starting = undefined; };
    const connection = await mine.catch((e) => {
      forget();
      throw e;
    });
    if (connection.alive) return connection;
    forget();
    return get();
  };
}

// The clerk keeps the ledger and writes statements, without which no run on files
// begins or ends; the calculator answers questions, which may take a minute. So
// they are two.
const clerk = kept(), calculator = kept();
/** @type {Ask} */
const ask = async (type, body) => {
  clipscopeEarly.use();
  return (await clerk()).request(type, body);
};

// cancellable awaits what f asks of a connection, unless signal calls it off. Go
// cannot be interrupted, so that ends a worker which was asked, unless off knows better.
/** @template T @param {Promise<Connection>} starting @param {AbortSignal | undefined} signal @param {(connection: Connection) => Promise<T>} f @param {(connection: Connection, reason: Error) => void} [off] @returns {Promise<T>} */
async function cancellable(starting, signal, f, off = (connection, reason) => connection.end(reason)) {
  const over = new AbortController();
  /** @type {Connection | undefined} */
  let asked;
  /** @type {Promise<never>} */
  const called = new Promise((_, reject) => {
    signal?.addEventListener("abort", () => {
      if (asked) off(asked, signal.reason);
      reject(signal.reason);
    }, { signal: over.signal });
  });
  try {
    signal?.throwIfAborted();
    return await Promise.race([called, starting.then((connection) => {
      signal?.throwIfAborted();
      asked = connection;
      return f(connection);
    })]);
  } finally {
    over.abort();
  }
}

// question is a call that puts one to the calculator, one at a time: whoever
// cancels theirs cancels no other.
/** @param {string} type @returns {(request?: any, signal?: AbortSignal) => Promise<any>} */
const question = (type) => (request, signal) => {
  clipscopeEarly.use();
  const before = turn, starting = before.then(() => {
    signal?.throwIfAborted();
    return calculator();
  });
  starting.catch(() => {}); // nobody looks at it where signal was there first
  const mine = cancellable(starting, signal, async (connection) => {
    await furnish(connection, request);
    return connection.request(type, request);
  });
  turn = mine.then(() => {}, () => {}).then(() => before); // one that is called off ends no other's turn
  return mine;
};
let turn = Promise.resolve();

// The files of weights that runs may start from, and of public rows, by their SHA-256: a configuration names them by
// that, and a worker is given those that are named.
/** @type {Map<string, File[]>} */
const named = new Map();

// startFrom reads the weights of a model, or of a transformer's checkpoint in several files, and keeps them for the runs of
// this page that name them.
/** @param {unknown} model @param {AbortSignal} [signal] */
async function startFrom(model, signal) {
  const files = Array.isArray(model) ? model : [fileOf(model, "model.safetensors")], info = await inWorker("start", {}, { train: files, test: [] }, undefined, signal);
  named.set(info.sha256, files);
  return info;
}

// publicRows names a file of public rows, and keeps it for the runs of this page that name it.
/** @param {File} file @param {AbortSignal} [signal] */
async function publicRows(file, signal) {
  const rows = await inWorker("public", {}, { train: [file], test: [] }, undefined, signal);
  named.set(rows.sha256, [file]);
  return rows;
}

// furnish gives a worker the weights that a request's configuration starts from, and the public rows that it mixes
// in. Where this page has no file of them, the worker says which are missing.
/** @param {Connection} connection @param {{ config?: any } | undefined} request */
async function furnish(connection, request) {
  for (const [type, what] of Object.entries({ start: request?.config?.start, public: request?.config?.public_rows })) {
    const sha256 = what?.sha256, files = named.get(sha256);
    if (!files || connection.given[type] === sha256) continue;
    await connection.request(type, { sha256 }, { train: files, test: [] });
    connection.given[type] = sha256;
  }
}

// sourceOf checks what open and train take as data.
/** @param {any} what @returns {Source} */
function sourceOf(what) {
  if (typeof what === "string") return { data: what };
  const files = { train: [...(what?.train ?? [])], test: [...(what?.test ?? [])] };
  for (const f of [...files.train, ...files.test]) {
    if (!(f instanceof Blob)) throw fail("train and test must be lists of File objects.");
  }
  if (files.train.length + files.test.length === 0) {
    throw fail('No files were given. Give {train: [File…], test: [File…]} or the name of built-in data such as "digits".');
  }
  return { files };
}

// Data is an open data set in a worker of its own.
class Data {
  #connection; // the worker that holds it; replaced after a crash
  #source;
  #csv;
  #closed = false;

  /** @param {Connection} connection @param {Source} source @param {object | undefined} csv @param {any} summary */
  constructor(connection, source, csv, summary) {
    this.#connection = connection;
    this.#source = source;
    this.#csv = csv;
    this.summary = summary;
  }

  // featured is the same data, opened once more, with the features that a model makes.
  /** @param {Source["backbone"]} backbone @param {Pending["progress"]} [progress] @param {AbortSignal} [signal] */
  featured(backbone, progress, signal) {
    if (this.#closed) throw fail("The data was closed: open it again.");
    return opened({ ...this.#source, backbone }, this.#csv, progress, signal);
  }

  // close gives the data up; a run that is on it keeps it until it has ended.
  close() {
    this.#closed = true;
    const end = () => this.#connection.end(fail("The data was closed."));
    const run = this.#connection.run;
    if (run) run.freed.then(end);
    else end();
  }

  get source() { return this.#source; }

  // apart is a worker of the caller's own that holds the same data.
  /** @param {Pending["progress"]} [progress] @param {AbortSignal} [signal] */
  async apart(progress, signal) {
    if (this.#closed) throw fail("The data was closed: open it again.");
    return (await load(this.#source, this.#csv, progress, signal)).connection;
  }

  // connect finds a worker that holds the data. One that is busy with a run
  // cannot take a second: its files are opened again in another.
  /** @param {boolean} forRun */
  async connect(forRun) {
    if (this.#closed) throw fail("The data was closed: open it again.");
    if (!this.#connection.alive) {
      this.#connection = (await load(this.#source, this.#csv)).connection;
    }
    // Closed meanwhile, it has nobody else who could end it.
    if (!forRun || !this.#connection.run) return { connection: this.#connection, own: this.#closed };
    return { connection: (await load(this.#source, this.#csv)).connection, own: true };
  }
}

/** @param {Source} source @param {object} [csv] @param {Pending["progress"]} [progress] @param {AbortSignal} [signal] */
async function opened(source, csv, progress, signal) {
  const { connection, summary } = await load(source, csv, progress, signal);
  return new Data(connection, source, csv, summary);
}

// featurise has a model make features of what a worker has open.
/** @param {Connection} connection @param {Source} source @param {Pending["progress"]} [progress] */
async function featurise(connection, { backbone, files }, progress) {
  const { model, options } = /** @type {NonNullable<Source["backbone"]>} */ (backbone);
  const summary = await connection.request("featurise", { ...options, salt: files ? await ledger.salt() : "" }, { train: model, test: [] }, progress);
  named.set(maker(summary.backbone), model);
  // What ran it is kept for when there is no network.
  if (!summary.backbone.cached) navigator.serviceWorker?.ready.then(({ active }) => active?.postMessage({ type: "later" }));
  return summary;
}

// maker names what makes features.
/** @param {{ sha256: string, tokenizer_sha256?: string }} backbone */
const maker = ({ sha256, tokenizer_sha256: tokenizer = "" }) => sha256 + tokenizer;

// backboneOf checks what features and backbone take as a model: its file, or an array of that and its tokenizer's.
/** @param {any} given @returns {File[]} */
function backboneOf(given) {
  const files = Array.isArray(given) ? given : [given];
  if (files.length === 0 || files.some((f) => !(f instanceof Blob))) throw fail("Give the model as a File: an ONNX file, or an array of it and its tokenizer’s.");
  return files.map((f) => f instanceof File ? f : new File([f], "backbone.onnx"));
}

// inWorker asks one question of a worker of its own, which signal ends.
/** @param {string} type @param {unknown} body @param {Files | undefined} files @param {Pending["progress"]} [progress] @param {AbortSignal} [signal] */
async function inWorker(type, body, files, progress, signal) {
  signal?.throwIfAborted();
  clipscopeEarly.use();
  const starting = Connection.start();
  try {
    return await cancellable(starting, signal, (connection) => connection.request(type, body, files, progress));
  } finally {
    starting.then((connection) => connection.end(fail("The question was answered.")), () => {});
  }
}

// called is the name of the first of some files, shortened, in words with the others.
/** @param {Files} files */
function called({ train, test }) {
  const [{ name }, ...more] = [...train, ...test];
  return (name.length > 80 ? name.slice(0, 60) + "…" + name.slice(-20) : name) + (more.length > 0 ? ` and ${more.length} more` : "");
}

// load starts a worker and opens the source in it.
/** @param {Source} source @param {object} [csv] @param {Pending["progress"]} [progress] @param {AbortSignal} [signal] */
async function load(source, csv, progress, signal) {
  signal?.throwIfAborted();
  clipscopeEarly.use();
  const starting = Connection.start();
  try {
    return await cancellable(starting, signal, async (connection) => {
      connection.opening = source.files && called(source.files);
      let summary = await connection.request("open", { data: source.data, csv: csv ?? {} }, source.files, progress);
      if (source.backbone) summary = await featurise(connection, source, progress);
      connection.opening = undefined;
      if (source.files) {
        connection.label = summary.name; // what the ledger calls it
        connection.files = called(source.files);
      }
      return { connection, summary };
    });
  } catch (e) {
    starting.then((connection) => connection.end(e), () => {});
    throw e;
  }
}

// Model is a saved model in a worker of its own, which holds nothing else.
class Model {
  #connection; // the worker that holds it; replaced where that has ended
  #files;
  #disposed = false;
  // line has one of two classes answered from a probability on; by default the likelier one is.
  /** @type {{ class: string, from: number } | undefined} */
  line;

  /** @param {Connection} connection @param {File[]} files its own, and those of what makes features for it @param {any} info */
  constructor(connection, files, info) {
    this.#connection = connection;
    this.#files = files;
    this.info = info;
  }

  // files are what load takes to have the model again, and file is its own.
  get files() { return [...this.#files]; }
  get file() { return this.#files[0]; }

  async #connect() {
    if (this.#disposed) throw fail("The model was disposed of: load it again.");
    if (!this.#connection.alive) this.#connection = (await hold(this.#files)).connection;
    return this.#connection;
  }

  // predict answers rows, a table, or files of pictures: rows are lists of cells or of numbers,
  // or objects with cells by the names of their columns.
  /** @param {any} what @param {Pending["progress"]} [progress] @param {AbortSignal} [signal] */
  async predict(what, progress, signal) {
    if (what instanceof Blob) return this.#ask("predict", { line: this.line }, [/** @type {File} */ (what)], progress, signal);
    if (!Array.isArray(what)) throw fail("Give a list of rows, a File with a table, or a list of Files of pictures.");
    if (what[0] instanceof Blob) return this.#ask("predict", { line: this.line }, what, progress, signal);
    return this.#ask("predict", { line: this.line, rows: what.map((row) => ArrayBuffer.isView(row) ? Array.from(/** @type {any} */ (row)) : row) }, [], progress, signal);
  }

  // picture is a picture's file (PNG, JPEG) as the model sees it, a row for predict. inverted
  // exchanges dark and light; where it is left out the model's kind and the picture decide.
  /** @param {File} file @param {boolean} [inverted] @param {AbortSignal} [signal] @returns {Promise<{ values: Uint8Array, inverted: boolean }>} */
  async picture(file, inverted, signal) {
    const { pixels, inverted: was } = await this.#ask("picture", { inverted }, [file], undefined, signal);
    return { values: Uint8Array.from(atob(pixels), (c) => c.charCodeAt(0)), inverted: was };
  }

  // evaluate compares the answers to labelled files with their labels, and says which runs
  // of this browser were trained on rows of these files.
  /** @param {any} files @param {Pending["progress"]} [progress] @param {AbortSignal} [signal] */
  async evaluate(files, progress, signal) {
    const given = files instanceof Blob ? [files] : files ?? [];
    if (typeof given[Symbol.iterator] !== "function") throw fail("Give a File, or a list of them.");
    const list = [...given], found = await this.#ask("evaluate", undefined, list, progress, signal);
    const seen = await ledger.recognise((salt) => this.#ask("recognise", { salt }, list, progress, signal)).catch(() => []); // then it cannot be told
    signal?.throwIfAborted();
    return seen.length > 0 ? { ...found, trained_on: seen } : found;
  }

  /** @param {string} type @param {unknown} body @param {any[]} files @param {Pending["progress"]} [progress] @param {AbortSignal} [signal] @returns {Promise<any>} */
  async #ask(type, body, files, progress, signal) {
    if (!files.every((f) => f instanceof Blob)) throw fail("Files must be File objects.");
    const connecting = this.#connect();
    connecting.catch(() => {}); // nobody looks at it where signal was there first
    let id = 0;
    try {
      return await cancellable(connecting, signal, (connection) => {
        id = connection.nextID;
        return connection.request(type, body, { train: /** @type {File[]} */ (files), test: [] }, progress);
      }, (connection) => connection.cancel(id));
    } catch (e) {
      if (e !== calledOff) throw e;
      return this.#ask(type, body, files, progress, signal); // another question took the worker with it
    }
  }

  dispose() {
    this.#disposed = true;
    this.#connection.end(fail("The model was disposed of."));
  }
}

// Laboratory is a model that stands still on a batch, in a worker of its own. All that
// it says is diagnostic.
class Laboratory {
  #connection;

  /** @param {Connection} connection @param {any} look */
  constructor(connection, look) {
    this.#connection = connection;
    this.look = look; // what is looked at now
  }

  /** @param {object} body @param {Pending["progress"]} [progress] */
  async #move(body, progress) { return this.look = await this.#connection.request("look", body, undefined, progress); }

  // again takes another batch, on trains on, and back goes to the first parameters.
  again() { return this.#move({ again: true }); }
  /** @param {number} steps @param {Pending["progress"]} [progress] */
  on(steps, progress) { return this.#move({ steps }, progress); }
  back() { return this.#move({ back: true }); }

  // curve is what a method, {method, …its parameters}, does at each of some thresholds,
  // and at the same at one of them, with every example's factor.
  /** @param {any} what @param {number[]} cs */
  curve({ method, ...params }, cs) { return this.#connection.request("clipping", { method, params, max_grad_norm: [...cs] }); }
  /** @param {any} what @param {number} c */
  async at({ method, ...params }, c) {
    const { max_grad_norm: [at], bias2: [bias2], along: [along], across: [across], cosine: [cosine], clipped: [clipped], factors } =
      await this.#connection.request("clipping", { method, params, max_grad_norm: [c], factors: true });
    return { max_grad_norm: at, bias2, along, across, cosine, clipped, factors: factors ?? [] };
  }

  // estimate is DC-SGD's of the bias, of this batch and without noise.
  /** @param {number[]} cs */
  estimate(cs) { return this.#connection.request("estimate", { max_grad_norm: [...cs] }); }

  // draws draws a step's noise at a threshold so many times, which is the same for all
  // methods that scale whole gradients.
  /** @param {any} what @param {number} c @param {number} draws */
  draws(what, c, draws) { return this.#connection.request("draws", { max_grad_norm: c, draws }); }

  // boundary is what a model of two features answers in the plane of its data.
  /** @param {number} size */
  boundary(size) { return this.#connection.request("boundary", { size }); }

  // close ends the worker, in the midst of steps too.
  close() { this.#connection.end(fail("The laboratory was closed.")); }
}

// laboratory opens one, on the files of opened data, which are read again for it, or on
// the built-in data that config names. On files it stands in the ledger, as a run without
// a guarantee, before anybody sees its first look.
/** @param {any} config @param {unknown} [data] @param {{ signal?: AbortSignal, progress?: Pending["progress"], anyway?: boolean }} [options] */
async function laboratory(config, data, { signal, progress, anyway = false } = {}) {
  signal?.throwIfAborted();
  clipscopeEarly.use();
  const starting = data instanceof Data ? data.apart(progress, signal) : place(config, data).then((p) => p.connection);
  try {
    return await cancellable(starting, signal, async (c) => {
      await furnish(c, { config });
      const look = await c.request("lab", { config: config ?? {} });
      if (c.label !== undefined) {
        const { book } = await enterRun(c, random(16), { events: {}, steps: 0, private: false }, { anyway, ask: true, method: "laboratory" });
        const close = () => void book?.close(0, signal?.aborted ?? false).catch(reportError);
        if (c.alive) c.onEnd = close;
        else close();
      }
      return new Laboratory(c, look);
    });
  } catch (e) {
    starting.then((c) => c.end(e), () => {});
    throw e;
  }
}

// hold starts a worker and loads a model in it. What made its features is taken from this page, where that has used it.
/** @param {File[]} files @param {AbortSignal} [signal] */
async function hold(files, signal) {
  signal?.throwIfAborted();
  clipscopeEarly.use();
  const starting = Connection.start();
  try {
    return await cancellable(starting, signal, async (connection) => {
      const ask = () => connection.request("model", undefined, { train: files, test: [] });
      let info = await ask();
      const known = info.lacks ? named.get(maker(info.features_of)) : undefined;
      if (known) {
        const alone = files;
        files = [files[0], ...known];
        info = await ask().catch(() => {
          files = alone; // they may have been moved since
          return info;
        });
      }
      return { connection, files, info };
    });
  } catch (e) {
    starting.then((connection) => connection.end(e), () => {});
    throw e;
  }
}

// The ledger of what has been spent on files; built-in data are public.
const ledger = new Ledger(ask);

// enterRun enters a run on a connection's files in the ledger under a name. With anyway,
// a ledger that cannot be written does not hold the run up: uncounted says why.
/** @param {Connection} connection @param {string} name @param {Plan | undefined} plan @param {{ anyway?: boolean, ask?: boolean, method?: string }} options @returns {Promise<{ book?: Book, uncounted?: string }>} */
async function enterRun(connection, name, plan, { anyway = false, ask = false, method }) {
  try {
    return { book: await ledger.enter({ run: name, identify: connection.identify(Boolean(plan?.tuning)), label: connection.label, method, plan, anyway, ask }) };
  } catch (e) {
    if (e.detail?.kind !== "ledger" || !anyway) throw e;
    return { uncounted: e.message };
  }
}

// Told is something of a run that changes: whoever listens is told what it is, if that is
// known, and what it becomes.
class Told {
  /** @type {Set<(x: any) => void>} */
  #listeners = new Set();
  /** @type {any} */
  value;

  /** @param {(x: any) => void} fn */
  on(fn) {
    this.#listeners.add(fn);
    if (this.value) guarded(fn, this.value);
    return () => this.#listeners.delete(fn);
  }

  /** @param {any} value */
  set(value) {
    this.value = value;
    for (const fn of this.#listeners) guarded(fn, value);
  }

  clear() { this.#listeners.clear(); }
}

// Runs are stored by their workers while they go on, and most of all when their page
// may be about to go.
for (const going of ["visibilitychange", "beforeunload", "pagehide"]) {
  addEventListener(going, () => { for (const run of running) run.store(); }, true);
}

// Who has a run in hand that is stored holds a lock of this name. It is let go a little
// after its worker is told to end, or its tab closed: those who look are told then.
const STORED = "clipscope-stored/";
/** @type {Map<string, Promise<void>>} */
const leaving = new Map();
/** @type {Set<() => void>} */
const watchers = new Set();

/** @param {string} lock */
function letGo(lock) {
  const freed = leaving.get(lock) ?? Promise.resolve(navigator.locks?.request(lock, { mode: "shared" }, () => {})).catch(() => {}).then(() => {
    leaving.delete(lock);
    tellInterrupted();
  });
  leaving.set(lock, freed);
  return freed;
}

function tellInterrupted() { for (const fn of watchers) guarded(fn, undefined); }

/** @returns {Promise<any[]>} */
async function interrupted() {
  const held = (await navigator.locks?.query().catch(() => undefined))?.held ?? [];
  for (const { name, mode } of held) if (mode === "exclusive" && name?.startsWith(STORED)) letGo(name); // a page shares it
  /** @type {any[]} */
  const list = await ask("interrupted");
  await charge(list);
  for (const run of list) if (run.fault && !run.data) run.data = (await ledger.find(run.id).catch(() => undefined))?.label ?? "";
  return list.map(({ record: _, trained: __, tested: ___, ...run }) => run);
}

// charge has what interrupted runs are charged in the ledger, whatever became of that.
/** @param {any[]} list */
async function charge(list) {
  const records = list.filter((run) => run.record).map(({ record, released }) => ({ ...record, done: released }));
  await ledger.restore(records).catch(() => {}); // whoever reads the ledger is told what is wrong with it
}

/** @param {string} id */
async function discard(id) {
  await ask("interrupted").then(charge);
  await ask("discard", { id });
  await ledger.abandon(id);
  tellInterrupted();
}

// Run is a training run in a worker.
class Run {
  #connection;
  #own; // the worker ends with the run
  #name; // under which it is stored, and stands in the ledger
  /** @type {Set<(event: any) => void>} */
  #listeners = new Set();
  /** @type {Set<(text: string) => void>} */
  #textListeners = new Set();
  #place = new Told();
  #trial = new Told();
  #within = new Told();
  #party = new Told();
  #state = "";
  // Both are set while the promises are made.
  #settle = /** @type {Pending} */ ({});
  #freed = () => {};
  #held = false; // kept from its first step until it stands in the ledger
  /** @type {Book | undefined} */
  #book; // its entry there
  /** @type {string | undefined} */
  #uncounted; // why it has none
  #begun = false; // let go for a step at least
  #seen = 0; // the last step that was seen
  /** @type {Plan | undefined} */
  plan;
  /** @type {unknown} */
  config; // as it was given
  id = 0; // of the request that began it; 0: none has
  /** @type {any} */
  summary; // of its data, where it was interrupted and goes on

  /** @param {Connection} connection @param {boolean} own @param {string} name */
  constructor(connection, own, name) {
    this.#connection = connection;
    this.#own = own;
    this.#name = name;
    this.freed = new Promise((resolve) => { this.#freed = () => resolve(undefined); });
    this.state = "running";
    this.done = new Promise((resolve, reject) => { this.#settle = { resolve, reject }; });
    this.done.catch(() => {}); // whoever does not ask is not told twice
    connection.run = this;
  }

  get keep() { return { id: this.#name, program: VERSION }; }

  // begin has the worker begin the run. What else was asked of the worker since the run was made
  // has taken ids of its own.
  /** @param {"train" | "go-on"} type @param {object} body */
  async begin(type, body) {
    this.id = this.#connection.nextID;
    this.plan = await this.#connection.request(type, body);
  }

  get state() { return this.#state; }
  set state(s) {
    this.#state = s;
    if (s === "running") running.add(this);
    else running.delete(this);
    if (s === "running" || s === "paused") unfinished.add(this);
    else unfinished.delete(this);
    if (count) Atomics.store(count, 0, running.size);
  }

  /** @param {(x: any) => void} fn */
  on(fn) {
    this.#listeners.add(fn);
    return () => this.#listeners.delete(fn);
  }

  /** @param {(x: any) => void} fn */
  onText(fn) {
    this.#textListeners.add(fn);
    return () => this.#textListeners.delete(fn);
  }

  // What the run is computed on, which of several is tried, and how far a long step is,
  // once that is known.
  get place() { return this.#place.value; }
  get trial() { return this.#trial.value; }
  get within() { return this.#within.value; }
  // How it stands with a run of several parties.
  get party() { return this.#party.value; }
  /** @param {(x: any) => void} fn */
  onPlace(fn) { return this.#place.on(fn); }
  /** @param {(x: any) => void} fn */
  onTrial(fn) { return this.#trial.on(fn); }
  /** @param {(x: any) => void} fn */
  onWithin(fn) { return this.#within.on(fn); }
  /** @param {(x: any) => void} fn */
  onParty(fn) { return this.#party.on(fn); }

  pause() { this.#tell("pause"); }
  resume() { this.#tell("resume"); }
  step() { this.#tell("step"); }
  stop() { this.#tell("stop"); }

  // startTogether starts a run of several parties with those who have come: the first of them does.
  startTogether() { this.#tell("begin"); }

  // pace has it take so many steps a second at most, and with Infinity all it can.
  /** @param {number} stepsPerSecond */
  pace(stepsPerSecond) {
    if (!(stepsPerSecond > 0)) throw fail("Give a number of steps a second that is greater than 0, or Infinity for as many as can be.");
    this.#tell("pace", Number.isFinite(stepsPerSecond) ? stepsPerSecond : 0);
  }

  // change has a teaching run go on with another max_grad_norm, noise_multiplier or
  // learning_rate from its next step on.
  /** @param {object} change @returns {Promise<any>} */
  async change(change) {
    if (this.state !== "running" && this.state !== "paused") throw fail("The run has ended: there is nothing left to change.");
    return this.#connection.request("change", { run: this.id, change: change ?? {} });
  }

  // store has the run stored now.
  store() { this.#tell("store"); }

  // memory says what the run's worker holds: {heap_bytes, system_bytes}.
  memory() { return this.#connection.request("memory"); }

  /** @param {string} type @param {unknown} [what] */
  #tell(type, what) {
    if (this.state !== "running" && this.state !== "paused") return;
    if (type === "resume" || type === "step") this.#begun = true;
    this.#connection.tell(type, this.id, what);
  }

  // leave ends the run at once, and what is stored of it stays.
  leave() { this.#connection.end(fail("The run was left, and may go on later.")); }

  // dispose ends the run at once, without a result.
  dispose() {
    this.#listeners.clear();
    this.#textListeners.clear();
    this.#place.clear();
    this.#trial.clear();
    this.#within.clear();
    this.#party.clear();
    if (this.state === "done" || this.state === "error") return;
    if (this.#own) {
      this.#connection.end(fail("The run was disposed of."));
      letGo(STORED + this.#name).then(() => ask("discard", { id: this.#name })).catch(() => {}); // or it is offered to go on
    } else {
      this.stop();
      this.fail(fail("The run was disposed of."), true);
    }
  }

  /** @param {Message} m */
  receive(m) {
    switch (m.type) {
      case "events":
        try {
          this.#events(m);
        } finally {
          this.#connection.tell("ack", this.id);
        }
        return;
      case "state":
        if (!this.#held && (this.state === "running" || this.state === "paused")) {
          const state = hear(m.text);
          // done and error are said by the messages that carry the reason.
          if (state === "running" || state === "paused") this.state = state;
        }
        return;
      case "place":
        this.#place.set(hear(m.text));
        return;
      case "trial":
        this.#trial.set(hear(m.text));
        return;
      case "within":
        this.#within.set(hear(m.text));
        return;
      case "party":
        this.#party.set(hear(m.text));
        return;
      case "done": {
        const result = hear(m.text);
        if (m.parameters) result.released.parameters = m.parameters;
        configs.set(result, this.config);
        this.#release();
        this.#finish(result);
        return;
      }
      case "failed": {
        const f = hear(m.text);
        if (f.unreleased) this.#begun = false; // it waited in a room where it was never started
        this.fail(fail(f.message, f.unreleased ? { ...f.detail, unbegun: true } : f.detail));
      }
    }
  }

  // hold keeps the run from its first step, and enter lets it go on once what
  // it may spend is written down.
  hold() { this.#held = true; }

  /** @param {boolean} paused @param {{ anyway?: boolean, ask?: boolean }} options */
  async enter(paused, options) {
    const { book, uncounted } = await enterRun(this.#connection, this.#name, this.plan, { ...options, method: /** @type {any} */ (this.config)?.method });
    this.#book = book;
    this.#uncounted = uncounted;
    this.#letGo(paused);
  }

  // reenter is enter for a run that was interrupted: it has been charged.
  /** @param {LedgerRecord} record @param {boolean} paused */
  async reenter(record, paused) {
    this.#book = await ledger.reopen(record, this.plan, this.#connection.identify(false));
    this.#seen = record.done;
    this.#begun = true; // before
    this.#letGo(paused);
  }

  /** @param {boolean} paused */
  #letGo(paused) {
    this.#held = false;
    if (paused) this.state = "paused";
    else this.resume();
  }

  /** @param {Result} result */
  async #finish(result) {
    const notes = [];
    if (this.#uncounted) notes.push("What this run spent is not counted: " + this.#uncounted);
    try {
      await this.#book?.close(result.steps, result.steps === 0 && !result.charged, Boolean(result.checks?.some((c) => !c.ok)), true);
    } catch (e) {
      notes.push("The ledger does not know that this run has ended: " + e.message);
    }
    try {
      await this.#conclude(result);
    } catch (e) {
      notes.push("The statement does not say what this data has spent in all: " + e.message);
    }
    if (notes.length > 0) result.notes = [...(result.notes ?? []), ...notes];
    if (this.state === "error") return; // disposed of
    this.state = "done";
    this.#settle.resolve(result);
  }

  // conclude has the statement completed with what only the page knows.
  /** @param {Result} result */
  async #conclude(result) {
    if (!result.statement) return;
    const account = this.#book && await ledger.account(this.#book);
    result.statement = await ask("statement", {
      statement: result.statement, version: VERSION, account, data: this.#connection.files, date: new Date().toISOString().slice(0, 10),
    });
  }

  /** @param {Message} m */
  #events(m) {
    this.#seen = m.step;
    this.#book?.progress(this.#seen);
    for (const fn of this.#textListeners) guarded(fn, m.text);
    if (this.#listeners.size === 0) return;
    for (const event of hear(m.text)) {
      for (const fn of this.#listeners) guarded(fn, event);
    }
  }

  // fail ends the run; with held, the worker is still busy with its last step.
  /** @param {Error} error @param {boolean} [held] */
  fail(error, held) {
    if (!held) {
      this.#release();
      letGo(STORED + this.#name);
      this.#book?.close(this.#seen, !this.#begun).catch(reportError);
    }
    if (this.state === "done" || this.state === "error") return;
    this.state = "error";
    this.#settle.reject(error);
  }

  #release() {
    this.#freed();
    if (this.#connection.run === this) this.#connection.run = undefined;
    if (this.#own) this.#connection.end(fail("The run has ended."));
  }
}

// What made a result, for the file of its model.
/** @type {WeakMap<object, unknown>} */
const configs = new WeakMap();

// tensors is the file of a result's model in the form that takes no work: safetensors,
// as docs/applying.md has it. Parameters are written as they lie in memory,
// little-endian on every platform that browsers are on.
/** @param {Result} r */
function tensors(r) {
  const { parameters, apply } = r.released;
  if (!parameters?.length || !apply) throw fail("There is no model in this result: nothing was trained, or an earlier version of the page kept it without what it takes to apply it.");
  /** @type {Record<string, object>} */
  const header = { __metadata__: {
    format: "clipscope-model", version: "1", program: "Clipscope " + VERSION,
    config: say(r.config ?? configs.get(r) ?? {}), guarantee: r.guarantee, statement: r.statement?.text ?? "",
    epsilon: say(r.epsilon), delta: say(r.delta), accountant: r.accountant, steps: say(r.steps), apply: say(apply),
    ...r.statement?.events ? { planned_steps: say(r.planned_steps), events: say(r.statement.events) } : {},
  } };
  let at = 0;
  /** @param {string} name @param {number[]} shape */
  const add = (name, shape) => {
    const end = at + 4 * shape.reduce((a, b) => a * b, 1);
    header[name] = { dtype: "F32", shape, data_offsets: [at, end] };
    at = end;
  };
  for (const [i, layer] of apply.layers.entries()) for (const t of layer.tensors ?? []) add(`layers.${i}.${t.name}`, t.shape);
  if (at === 0) add("parameters", [parameters.length]); // of a run that an earlier version kept
  const text = new TextEncoder().encode(say(header)), length = new DataView(new ArrayBuffer(8)), room = 8 * Math.ceil(text.length / 8);
  length.setUint32(0, room, true);
  return new Blob([length.buffer, text, " ".repeat(room - text.length), /** @type {any} */ (parameters)]);
}

// modelFile is what convert takes as a model, as a file.
/** @param {any} model @returns {Blob} */
function modelFile(model) {
  if (model instanceof Blob) return model;
  if (typeof model === "string" || model instanceof ArrayBuffer || ArrayBuffer.isView(model)) return new Blob([/** @type {any} */ (model)]);
  if (model?.released) {
    try {
      return tensors(model);
    } catch (e) {
      throw e instanceof TypeError ? fail(`This is not a run's result as it came (${e.message}).`) : e;
    }
  }
  throw fail("Give a model's file, its text or its bytes, or the result of a run.");
}

// fileOf is a model as a file, by a name where it has none.
/** @param {any} model @param {string} name @returns {File} */
function fileOf(model, name) {
  if (model instanceof Model) return model.file;
  return model instanceof File ? model : new File([modelFile(model)], model?.name ?? name);
}

// convert has a worker of its own, which ends with it: a large model takes much memory.
// As a checkpoint it has the form of the one that the run started from, whose files are given or open here; peft is an adapter to it.
/** @param {any} model @param {string} to @param {{ onProgress?: (bytes: number) => void, signal?: AbortSignal, files?: File[] }} [options] */
async function convert(model, to, options) {
  const { onProgress, signal } = options ?? {};
  const file = modelFile(model);
  signal?.throwIfAborted();
  clipscopeEarly.use();
  const starting = Connection.start();
  try {
    const from = (model?.config ?? configs.get(model))?.start?.sha256, home = to === "checkpoint" || to === "peft", checkpoint = home ? options?.files ?? named.get(from) ?? [] : [];
    const files = { train: [/** @type {File} */ (file)], test: checkpoint }, told = (/** @type {{ bytes: number }} */ p) => onProgress?.(p.bytes);
    const made = await cancellable(starting, signal, (connection) => connection.request("convert", { to }, files, (p) => guarded(told, p)));
    guarded(told, made.summary);
    return made.slice(0, made.size, home ? "application/zip" : to === "zip" || to === "json" ? "application/" + to : "application/octet-stream");
  } finally {
    starting.then((connection) => connection.end(fail("The model is written.")), () => {});
  }
}

// guarded keeps a listener that throws from the others and from the run.
/** @param {(x: any) => void} fn @param {unknown} arg */
function guarded(fn, arg) {
  try {
    fn(arg);
  } catch (e) {
    reportError(e);
  }
}

// seated takes the place in a room that a file has in this browser, until what it resolves with is called. A row that is in
// twice would be protected half as well.
/** @param {string} room @param {string} label @returns {Promise<() => void>} */
async function seated(room, label) {
  /** @type {(() => void) | undefined} */
  const leave = await new Promise((resolve, reject) => {
    if (!navigator.locks) resolve(() => {});
    else navigator.locks.request(`clipscope-room/${room}/${label}`, { ifAvailable: true }, (lock) => lock ? new Promise((free) => resolve(() => free(undefined))) : resolve(undefined)).catch(reject);
  });
  if (!leave) throw fail(`${label} is in this room already, in another tab of this browser. A row that is in twice is protected half as well: go on in that tab.`);
  return leave;
}

// train starts a run. With ask, one without a guarantee is refused, limit or not. With together it meets others in
// a room before its first step: it is charged before it goes there, and not at all where the run is not started there. With start
// it begins with the weights of that model, and with publicRows it mixes that file's rows in.
/** @param {any} [config] @param {any} [what] @param {{ paused?: boolean; anyway?: boolean; ask?: boolean; together?: Joining; start?: unknown; publicRows?: File }} [options] @returns {Promise<Run>} */
async function train(config, what, options) {
  clipscopeEarly.use();
  if (options?.start !== undefined) {
    const { start, ...rest } = options, { file, sha256 } = await startFrom(start);
    return train({ ...config, start: { ...config?.start, file, sha256 } }, what, rest);
  }
  if (options?.publicRows !== undefined) {
    const { publicRows: rows, ...rest } = options;
    return train({ ...config, public_rows: { ...config?.public_rows, ...await publicRows(rows) } }, what, rest);
  }
  const { connection, own } = await place(config, what);
  try {
    await furnish(connection, { config });
  } catch (e) {
    if (own) connection.end(e);
    throw e;
  }
  if (connection.run) {
    // Another run took the worker while this one was being prepared.
    return train(config, what, options);
  }
  const run = new Run(connection, own, random(16));
  run.config = config;
  const counts = connection.label !== undefined, paused = options?.paused ?? false;
  if (counts) run.hold();
  try {
    if (options?.together && connection.label !== undefined) run.freed.then(await seated(options.together.room, connection.label));
    const salt = counts ? await ledger.salt().catch(() => undefined) : undefined; // then it cannot go on
    await run.begin("train", { config: config ?? {}, paused: paused || counts, keep: { ...run.keep, salt }, together: options?.together });
  } catch (e) {
    run.fail(e);
    throw e;
  }
  if (!counts) {
    if (paused) run.state = "paused"; // as the worker says in its next message
    return run;
  }
  try {
    await run.enter(paused, options ?? {});
    return run;
  } catch (e) {
    run.dispose();
    await run.freed;
    throw e;
  }
}

// goOn continues an interrupted run. One on files is given them again.
/** @param {string} id @param {any} [what] @param {{ paused?: boolean }} [options] @returns {Promise<Run>} */
async function goOn(id, what, options) {
  clipscopeEarly.use();
  const stored = (await interrupted()).find((run) => run.id === id);
  if (!stored) throw fail("There is no interrupted run of that id: it goes on in another tab, has ended, or was discarded.");
  if (stored.fault) throw fail(`A run on ${stored.data || "unknown data"} was interrupted: ${stored.fault}.`);
  const counts = !stored.builtin, paused = options?.paused ?? false;
  const source = what instanceof Data ? what.source : counts ? sourceOf(what) : { data: stored.builtin };
  const record = counts ? await ledger.find(id) : undefined;
  if (counts && !record) throw fail("The ledger has no entry of this run any more, so it cannot be told what it has spent: start it anew.");
  const { connection, summary } = await load(source, stored.config.csv);
  const run = new Run(connection, true, id);
  run.config = stored.config;
  run.summary = summary;
  if (counts) run.hold();
  try {
    if (stored.room && connection.label !== undefined) run.freed.then(await seated(stored.room, connection.label));
    await furnish(connection, stored);
    await run.begin("go-on", { ...run.keep, paused: paused || counts, seen: record?.done ?? 0 });
    if (record) await run.reenter(record, paused);
    else if (paused) run.state = "paused";
    tellInterrupted();
    return run;
  } catch (e) {
    connection.end(e); // and what is stored stays, to be tried again at once, unless another tab has it
    await Promise.race([letGo(STORED + id), new Promise((resolve) => setTimeout(resolve, 1000))]);
    throw e;
  }
}

// place finds the worker for a run.
/** @param {any} config @param {any} what */
async function place(config, what) {
  if (what instanceof Data) return what.connect(true);
  if (what === undefined || what === null) return { connection: await Connection.start(), own: true };
  return { connection: (await load(sourceOf(what), config?.csv)).connection, own: true };
}

// about puts a question about opened data, or about built-in data.
/** @param {unknown} data @param {string} type @param {object} body */
async function about(data, type, body) {
  if (!(data instanceof Data)) return question(type)(body);
  const { connection } = await data.connect(false);
  await furnish(connection, body);
  return connection.request(type, body);
}

export const clipscope = Object.freeze({
  version: VERSION,
  ready: clerk().then(() => undefined),
  methods: question("methods"),
  datasets: question("datasets"),
  epsilon: question("epsilon"),
  calibrate: question("calibrate"),
  delta: question("delta"),
  report: question("report"),
  curve: question("curve"),
  group: question("group"),
  attack: question("attack"),
  tuning: question("tuning"),
  /** @param {unknown} source @param {object} [csv] @param {Pending["progress"]} [onProgress] @param {AbortSignal} [signal] */
  async open(source, csv, onProgress, signal) { return opened(sourceOf(source), csv, onProgress, signal); },
  // features opens data with the features that a model makes of its rows.
  /** @param {unknown} file @param {unknown} data @param {object} [options] @param {Pending["progress"]} [onProgress] @param {AbortSignal} [signal] */
  async features(file, data, options, onProgress, signal) {
    const backbone = { model: backboneOf(file), options: options ?? {} };
    return data instanceof Data ? data.featured(backbone, onProgress, signal) : opened({ ...sourceOf(data), backbone }, undefined, onProgress, signal);
  },
  // backbone says what a model takes and gives.
  /** @param {unknown} file @param {Pending["progress"]} [onProgress] @param {AbortSignal} [signal] */
  async backbone(file, onProgress, signal) { return inWorker("inspect", undefined, { train: backboneOf(file), test: [] }, onProgress, signal); },
  forgetFeatures: () => inWorker("forget", undefined, undefined),
  /** @param {any} [config] @param {unknown} [data] */
  async plan(config, data) {
    return about(data, "plan", { config: config ?? {} });
  },
  train,
  // start says what weights a model has, and keeps them for runs of this page whose configuration names them.
  start: startFrom,
  // publicRows names a file of public rows, and keeps it for runs of this page whose configuration names it.
  publicRows,
  together: Object.freeze({
    // rooms says whether the page's host has rooms in which several parties can train together.
    rooms: document.querySelector('meta[name="clipscope-rooms"]') !== null,
    // open opens a room for a run, and returns what others need to join it.
    /** @param {any} config @param {unknown} [data] @returns {Promise<Invitation>} */
    async open(config, data) { return about(data, "invite", { config }); },
    // invited says what a room is for, and how a configuration differs from it, on data.
    /** @param {Invitation} invitation @param {any} [config] @param {unknown} [data] */
    async invited({ room, secret }, config, data) { return about(data, "invited", { room, secret, config }); },
  }),
  lab: laboratory,
  convert,
  // load takes a file that a model was saved in, what it holds, or the result of a run; or an array of that and the files of what
  // makes its features of texts.
  /** @param {any} source @param {AbortSignal} [signal] */
  async load(source, signal) {
    const [given, ...beside] = source instanceof Model ? source.files : Array.isArray(source) ? source : [source];
    const { connection, files, info } = await hold([fileOf(given, "model"), ...beside.length > 0 ? backboneOf(beside) : []], signal);
    return new Model(connection, files, info);
  },
  // check examines a file that the page saved, in a worker of its own, which signal ends; with
  // recognise it says only what the file is.
  /** @param {any} source @param {AbortSignal} [signal] @param {{ recognise?: boolean }} [options] */
  async check(source, signal, options) {
    const file = fileOf(source, "file");
    return inWorker("check", { recognise: Boolean(options?.recognise) }, { train: [file], test: [] }, undefined, signal);
  },
  interrupted,
  // onInterrupted calls back when there may be other interrupted runs than before.
  /** @param {() => void} fn */
  onInterrupted(fn) {
    watchers.add(fn);
    return () => watchers.delete(fn);
  },
  continue: goOn,
  resume: goOn, // its name until 0.2.0: a run's own resume ends a pause
  discard,
  // audit runs in a worker of its own, which signal ends.
  /** @param {unknown} [request] @param {Pending["progress"]} [onProgress] @param {AbortSignal} [signal] */
  async audit(request, onProgress, signal) { return inWorker("audit", request ?? {}, undefined, onProgress, signal); },
  ledger: surface(ledger, async (data, tested) => {
    if (!(data instanceof Data)) throw fail("Give the handle of opened data.");
    return ledger.identified((await data.connect(false)).connection.identify(tested));
  }, (id) => ask("discard", { id }).then(tellInterrupted)),
});
clipscope.ready.catch(() => {}); // the page decides what to say

// Once the page has loaded, the service worker, which on a first visit may be there
// long before, keeps all files, and serves this page too, so that workers that start
// later come from its cache and nothing more is asked of the network.
clipscope.ready.catch(() => {}).then(() => navigator.serviceWorker?.ready).then((registration) => {
  const active = registration?.active;
  if (!active) return;
  const claim = () => setTimeout(() => active.postMessage({ type: "claim", version: VERSION.split("+")[1] }), 1000);
  if (active.state === "activated") claim();
  else active.addEventListener("statechange", () => { if (active.state === "activated") claim(); });
});
