// The page's client of the trainer workers, and its scripting API:
// window.clipscope. docs/scripting.md documents it for users; the messages are described
// in wasm/worker/protocol.go. Nothing is computed on the page's thread.
(() => {
  "use strict";

  const { say, hear, fail } = clipscopeWire;

  // PROTOCOL must equal run.ProtocolVersion: an old page can meet a new worker.
  const PROTOCOL = 4;
  const VERSION = "__VERSION__"; // filled in when the site is generated
  const base = new URL(".", document.currentScript.src);

  // The trainer is compiled once and the module handed to every worker.
  let compiled;
  function trainerModule() {
    compiled ??= compile(new URL("trainer.wasm", base)).catch((e) => {
      compiled = undefined; // so that a later call tries again
      throw fail("The trainer could not be loaded: " + e.message + ". Reload the page.");
    });
    return compiled;
  }

  async function compile(url) {
    if (typeof WebAssembly !== "object") throw fail("this browser has no WebAssembly");
    const response = await fetch(url);
    if (!response.ok) throw fail("the server answered " + response.status);
    if (WebAssembly.compileStreaming && /^application\/wasm/.test(response.headers.get("Content-Type") ?? "")) {
      return WebAssembly.compileStreaming(response);
    }
    return WebAssembly.compile(await response.arrayBuffer());
  }

  // Connection is one worker and the conversation with it.
  class Connection {
    #worker;
    #pending = new Map(); // request id → {resolve, reject, progress}
    #last = 0;
    #gone; // the Error that ended it
    run; // the Run in progress, if any
    label; // what its files are called; undefined for built-in data

    static async start() {
      const module = await trainerModule();
      const c = new Connection();
      await c.#hello(module);
      return c;
    }

    #hello(module) {
      return new Promise((resolve, reject) => {
        this.#worker = new Worker(new URL("trainer-worker.js", base));
        this.#pending.set(0, { resolve, reject });
        this.#worker.onmessage = (e) => this.#receive(e.data);
        this.#worker.onerror = (e) => {
          e.preventDefault();
          this.end(fail("The trainer's worker could not run: " + (e.message || "its script did not load") + "."));
        };
        this.#worker.postMessage({ type: "init", module });
      });
    }

    #receive(m) {
      switch (m.type) {
        case "ready": {
          const ready = hear(m.text);
          if (ready.protocol !== PROTOCOL) {
            this.end(fail("The page was updated while it was open. Reload it to go on."));
            return;
          }
          this.#settle(0, (p) => p.resolve(ready));
          return;
        }
        case "reply":
          this.#settle(m.id, (p) => p.resolve(hear(m.text)));
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
          this.end(fail(crash(m.text), { kind: "crash", log: m.text }));
          return;
        default:
          if (this.run && this.run.id === m.id) this.run.receive(m);
      }
    }

    #settle(id, f) {
      const p = this.#pending.get(id);
      this.#pending.delete(id);
      if (p) f(p);
    }

    // request resolves with the reply.
    request(type, body, files, progress) {
      if (this.#gone) return Promise.reject(this.#gone);
      const id = ++this.#last;
      return new Promise((resolve, reject) => {
        this.#pending.set(id, { resolve, reject, progress });
        try {
          this.#worker.postMessage({
            type, id, text: body === undefined ? undefined : say(body),
            train: files?.train, test: files?.test,
          });
        } catch (e) {
          this.#pending.delete(id);
          reject(fail(type + ": " + e.message));
        }
      });
    }

    get nextID() { return this.#last + 1; }
    get alive() { return !this.#gone; }

    tell(type, id) {
      if (!this.#gone) this.#worker.postMessage({ type, id });
    }

    // end terminates the worker; whoever waits for it gets the reason.
    end(reason) {
      if (this.#gone) return;
      this.#gone = reason;
      this.#worker.terminate();
      for (const p of this.#pending.values()) p.reject(reason);
      this.#pending.clear();
      this.run?.fail(reason);
    }
  }

  // crash says in words what the last lines of a Go program that ended mean.
  function crash(log) {
    if (/out of memory|cannot allocate/i.test(log)) {
      return "The trainer ran out of memory, and only this run ended. Take a smaller model, a smaller max_physical_batch_size or fewer rows.";
    }
    const line = log.split("\n").find((l) => /^(panic|fatal error|RuntimeError)/.test(l)) ?? "no reason given";
    return "The trainer ended unexpectedly (" + line.slice(0, 200) + "). Only this run is lost: start it again.";
  }

  // The calculator: one worker without data of its own, kept.
  let calculating;
  function calculator() {
    calculating ??= Connection.start().catch((e) => {
      calculating = undefined;
      throw e;
    });
    return calculating.then((c) => {
      if (c.alive) return c;
      calculating = undefined;
      return calculator();
    });
  }
  const ask = async (type, body) => (await calculator()).request(type, body);

  // sourceOf checks what open and train take as data.
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

    constructor(connection, source, csv, summary) {
      this.#connection = connection;
      this.#source = source;
      this.#csv = csv;
      this.summary = summary;
    }

    close() {
      this.#closed = true;
      this.#connection.end(fail("The data was closed."));
    }

    // connect finds a worker that holds the data. One that is busy with a run
    // cannot take a second: its files are opened again in another.
    async connect(forRun) {
      if (this.#closed) throw fail("The data was closed: open it again.");
      if (!this.#connection.alive) {
        this.#connection = (await load(this.#source, this.#csv)).connection;
      }
      if (!forRun || !this.#connection.run) return { connection: this.#connection, own: false };
      return { connection: (await load(this.#source, this.#csv)).connection, own: true };
    }
  }

  // load starts a worker and opens the source in it.
  async function load(source, csv, progress, signal) {
    signal?.throwIfAborted();
    const connection = await Connection.start();
    const abort = () => connection.end(signal.reason ?? fail("Opening was cancelled."));
    try {
      signal?.addEventListener("abort", abort);
      if (signal?.aborted) abort();
      const summary = await connection.request("open", { data: source.data, csv: csv ?? {} }, source.files, progress);
      if (source.files) connection.label = summary.name; // what the ledger calls it
      return { connection, summary };
    } catch (e) {
      connection.end(e);
      throw e;
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }

  // The ledger of what has been spent on files; built-in data are public.
  const ledger = new clipscopeLedger.Ledger(ask);

  async function namesOf(connection) {
    return (await connection.request("digest", { salt: await ledger.salt() })).names;
  }

  // Run is a training run in a worker.
  class Run {
    #connection;
    #own; // the worker ends with the run
    #listeners = new Set();
    #textListeners = new Set();
    #settle;
    #freed;
    #held = false; // kept from its first step until it stands in the ledger
    #book; // its entry there
    #uncounted; // why it has none
    #begun = false; // let go for a step at least
    #seen = 0; // the last step that was seen; NaN when not known

    constructor(connection, own) {
      this.#connection = connection;
      this.#own = own;
      this.freed = new Promise((resolve) => { this.#freed = resolve; });
      this.id = connection.nextID;
      this.state = "running";
      this.done = new Promise((resolve, reject) => { this.#settle = { resolve, reject }; });
      this.done.catch(() => {}); // whoever does not ask is not told twice
      connection.run = this;
    }

    on(fn) {
      this.#listeners.add(fn);
      return () => this.#listeners.delete(fn);
    }

    onText(fn) {
      this.#textListeners.add(fn);
      return () => this.#textListeners.delete(fn);
    }

    pause() { this.#tell("pause"); }
    resume() { this.#tell("resume"); }
    step() { this.#tell("step"); }
    stop() { this.#tell("stop"); }

    // memory says what the run's worker holds: {heap_bytes, system_bytes}.
    memory() { return this.#connection.request("memory"); }

    #tell(type) {
      if (this.state !== "running" && this.state !== "paused") return;
      if (type === "resume" || type === "step") this.#begun = true;
      this.#connection.tell(type, this.id);
    }

    // dispose ends the run at once, without a result.
    dispose() {
      this.#listeners.clear();
      this.#textListeners.clear();
      if (this.state === "done" || this.state === "error") return;
      if (this.#own) this.#connection.end(fail("The run was disposed of."));
      else {
        this.stop();
        this.fail(fail("The run was disposed of."), true);
      }
    }

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
        case "done": {
          const result = hear(m.text);
          if (m.parameters) result.released.parameters = Array.from(m.parameters);
          this.#release();
          this.#finish(result);
          return;
        }
        case "failed": {
          const f = hear(m.text);
          this.fail(fail(f.message, f.detail));
        }
      }
    }

    // hold keeps the run from its first step, and enter lets it go on once what
    // it may spend is written down.
    hold() { this.#held = true; }

    async enter(paused, anyway) {
      try {
        this.#book = await ledger.enter({ names: await namesOf(this.#connection), label: this.#connection.label, plan: this.plan, anyway });
      } catch (e) {
        if (e.detail?.kind !== "ledger" || !anyway) throw e;
        this.#uncounted = e.message;
      }
      this.#held = false;
      if (paused) this.state = "paused";
      else this.resume();
    }

    async #finish(result) {
      const notes = [];
      if (this.#uncounted) notes.push("What this run spent is not counted: " + this.#uncounted);
      try {
        await this.#book?.close(result.steps, result.steps === 0);
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
    async #conclude(result) {
      if (!result.statement) return;
      const account = this.#book && await ledger.account(this.#book.names);
      result.statement = await ask("statement", { statement: result.statement, version: VERSION, account });
    }

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
    fail(error, held) {
      if (!held) {
        this.#release();
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

  // guarded keeps a listener that throws from the others and from the run.
  function guarded(fn, arg) {
    try {
      fn(arg);
    } catch (e) {
      reportError(e);
    }
  }

  async function train(config, what, options) {
    const { connection, own } = await place(config, what);
    if (connection.run) {
      // Another run took the worker while this one was being prepared.
      return train(config, what, options);
    }
    const run = new Run(connection, own);
    const counts = connection.label !== undefined, paused = options?.paused ?? false;
    if (counts) run.hold();
    try {
      run.plan = await connection.request("train", { config: config ?? {}, paused: paused || counts });
    } catch (e) {
      run.fail(e);
      throw e;
    }
    if (!counts) return run;
    try {
      await run.enter(paused, options?.anyway ?? false);
      return run;
    } catch (e) {
      run.dispose();
      await run.freed;
      throw e;
    }
  }

  // place finds the worker for a run.
  async function place(config, what) {
    if (what instanceof Data) return what.connect(true);
    if (what === undefined || what === null) return { connection: await Connection.start(), own: true };
    return { connection: (await load(sourceOf(what), config?.csv)).connection, own: true };
  }

  const clipscope = {
    version: VERSION,
    ready: calculator().then(() => undefined),
    methods: () => ask("methods"),
    datasets: () => ask("datasets"),
    epsilon: (request) => ask("epsilon", request),
    calibrate: (request) => ask("calibrate", request),
    delta: (request) => ask("delta", request),
    report: (request) => ask("report", request),
    curve: (request) => ask("curve", request),
    group: (request) => ask("group", request),
    tuning: (request) => ask("tuning", request),
    async open(source, csv, onProgress, signal) {
      const checked = sourceOf(source);
      const { connection, summary } = await load(checked, csv, onProgress, signal);
      return new Data(connection, checked, csv, summary);
    },
    async plan(config, data) {
      const body = { config: config ?? {} };
      return data instanceof Data ? (await data.connect(false)).connection.request("plan", body) : ask("plan", body);
    },
    train,
    // audit runs in a worker of its own, which signal ends.
    async audit(request, onProgress, signal) {
      signal?.throwIfAborted();
      const connection = await Connection.start();
      const abort = () => connection.end(signal.reason ?? fail("The audit was cancelled."));
      try {
        signal?.addEventListener("abort", abort);
        if (signal?.aborted) abort();
        return await connection.request("audit", request ?? {}, undefined, onProgress);
      } finally {
        signal?.removeEventListener("abort", abort);
        connection.end(fail("The audit is over."));
      }
    },
    ledger: clipscopeLedger.surface(ledger, async (data) => {
      if (!(data instanceof Data)) throw fail("Give the handle of opened data.");
      return namesOf((await data.connect(false)).connection);
    }),
  };
  clipscope.ready.catch(() => {}); // the page decides what to say
  window.clipscope = Object.freeze(clipscope);

  // On a first visit the service worker is installed after the page has loaded.
  // Once it is active, let it serve this page too, so that workers that start
  // later come from its cache and nothing more is asked of the network.
  navigator.serviceWorker?.ready.then(({ active }) => {
    const claim = () => setTimeout(() => active.postMessage({ type: "claim" }), 1000);
    if (active.state === "activated") claim();
    else active.addEventListener("statechange", () => { if (active.state === "activated") claim(); });
  });
})();
