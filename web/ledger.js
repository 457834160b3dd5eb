// The ledger of what runs have spent on each data set, in this browser's
// storage. An entry is written before a run's first release and charged for all of
// its planned steps, however many it takes: where a run is stopped may depend on
// what it released, so only the number that was fixed beforehand bounds its cost.
// What entries come to is worked out by the trainer; see wasm/worker/ledger.go.
// Nothing here leaves the device.
//
// Each run has a record of its own, {run, names, label, done, entry}, that only
// it changes, so tabs cannot write over each other's.
(() => {
  "use strict";

  const NAME = "clipscope-ledger";
  const DELTA = 1e-5; // of totals, unless the limit says another

  function fail(message, detail) {
    const e = new Error(message);
    e.name = "ClipscopeError";
    e.detail = detail;
    return e;
  }

  // --- storage ---

  let opened;
  function database() {
    opened ??= new Promise((resolve, reject) => {
      const request = indexedDB.open(NAME, 1);
      request.onupgradeneeded = () => {
        request.result.createObjectStore("runs", { keyPath: "run" });
        request.result.createObjectStore("settings");
      };
      request.onsuccess = () => {
        const db = request.result;
        db.onversionchange = db.onclose = () => { db.close(); opened = undefined; };
        resolve(db);
      };
      request.onerror = () => reject(request.error);
      request.onblocked = () => reject(new Error("another tab holds an older version of it open"));
    }).catch((e) => {
      opened = undefined;
      throw e;
    });
    return opened;
  }

  // transact runs f(runs, settings), which makes requests, in one transaction
  // and resolves with what f's request answers once everything is on disk.
  async function transact(mode, f) {
    let db;
    try {
      db = await database();
    } catch (e) {
      throw fail("The ledger in this browser's storage cannot be opened (" + e.message + ").", { kind: "ledger" });
    }
    return new Promise((resolve, reject) => {
      let request;
      const wrong = () => reject(fail("The ledger in this browser's storage cannot be used (" + (t.error?.message ?? "no reason given") + ").", { kind: "ledger" }));
      const t = db.transaction(["runs", "settings"], mode, { durability: "strict" });
      t.oncomplete = () => resolve(request?.result);
      t.onerror = t.onabort = wrong;
      request = f(t.objectStore("runs"), t.objectStore("settings"));
    });
  }

  const all = () => transact("readonly", (runs) => runs.getAll());
  const setting = (key) => transact("readonly", (_, settings) => settings.get(key));

  function random(bytes) {
    return Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (b) => b.toString(16).padStart(2, "0")).join("");
  }

  // salt makes the names of data sets worthless to whoever does not have it.
  async function salt() {
    const fresh = random(32);
    await transact("readwrite", (_, settings) => {
      const request = settings.get("salt");
      request.onsuccess = () => { if (!request.result) settings.put(fresh, "salt"); };
      return request;
    });
    return setting("salt");
  }

  const put = (record) => transact("readwrite", (runs) => runs.put(record));

  // --- tabs ---

  // exclusively runs f while no other tab does.
  function exclusively(f) {
    return navigator.locks ? navigator.locks.request(NAME, f) : f();
  }

  // alive holds a lock for as long as this tab lives, or until the function that
  // it returns is called: others can tell a run that goes on from one that is lost.
  function alive(run) {
    let release = () => {};
    navigator.locks?.request(NAME + "/" + run, () => new Promise((resolve) => { release = resolve; })).catch(() => {});
    return () => release();
  }

  async function living() {
    const held = (await navigator.locks?.query())?.held ?? [];
    return new Set(held.map((l) => l.name));
  }

  const channel = globalThis.BroadcastChannel ? new BroadcastChannel(NAME) : undefined;
  const listeners = new Set();
  const tell = () => { for (const fn of listeners) fn(); };
  if (channel) channel.onmessage = tell;
  function changed() {
    channel?.postMessage("changed");
    tell();
  }

  // --- a run's entry ---

  // Book keeps the entry of one run.
  class Book {
    #record;
    #release;
    #told = 0;
    #writing = Promise.resolve();

    constructor(record) {
      this.#record = record;
      this.#release = alive(record.run);
    }

    get names() { return this.#record.names; }

    #write() {
      this.#writing = this.#writing.catch(() => {}).then(() => put(structuredClone(this.#record)));
      return this.#writing;
    }

    // progress notes the last step that was seen, which changes no charge.
    progress(step) {
      this.#record.done = step;
      if (performance.now() - this.#told < 1000) return;
      this.#told = performance.now();
      this.#write().catch(() => {}); // the charge is on disk already
    }

    // close notes that the run has ended, and after how many steps. It changes
    // the charge only where nothing can have been released.
    async close(done, nothing) {
      const entry = this.#record.entry;
      if (entry.closed) return;
      if (nothing) {
        entry.steps = 0;
        entry.once = [];
      }
      entry.closed = true;
      this.#record.done = done || 0;
      try {
        await this.#write();
      } finally {
        this.#release();
        changed();
      }
    }
  }

  // --- what the client uses ---

  class Ledger {
    #ask; // (type, body) → the trainer's answer, an object

    constructor(ask) { this.#ask = ask; }

    salt() { return salt(); }

    // spent is what the data set of those names has cost, and would with next.
    async spent(names, next) {
      const limit = await setting("limit");
      return this.#ask("spent", { records: await all(), names, next, target_delta: limit?.delta ?? DELTA });
    }

    // enter writes the entry of a run that has released nothing yet. It rejects
    // where the run would go over the limit, unless anyway is true.
    enter({ names, label, plan, anyway }) {
      const charged = plan.events.per_step !== undefined;
      const record = {
        run: random(16), names, label, done: 0,
        entry: {
          run: "", label, started: new Date().toISOString(),
          once: plan.events.once, per_step: plan.events.per_step, steps: charged ? plan.steps : 0, closed: false,
          unprotected: !plan.private,
        },
      };
      record.entry.run = record.run;
      return exclusively(async () => {
        const limit = await setting("limit");
        if (limit && !anyway) {
          const t = await this.spent(names, record.entry);
          if (t.next_epsilon > limit.epsilon) throw over(t, limit);
        }
        await put(record);
        navigator.storage?.persist?.().catch(() => {});
        changed();
        return new Book(record);
      });
    }
  }

  // roundUp is the least number of at most so many significant digits that is not
  // below x, as core/run's RoundUp: whatever is shown of a bound is one.
  function roundUp(x, digits) {
    if (!(x > 0) || !isFinite(x)) return x;
    const nearest = x.toExponential(digits - 1);
    if (Number(nearest) >= x) return Number(nearest);
    const [mantissa, exponent] = nearest.split("e");
    return Number(`${Number(mantissa.replace(".", "")) + 1}e${Number(exponent) - digits + 1}`);
  }

  function over(t, limit) {
    const shown = (x) => roundUp(x, 4), so = `So far it is ${shown(t.epsilon)}.`;
    const text = t.next_epsilon === Infinity
      ? `This run carries no guarantee: it may tell anything about this data (ε = ∞), and your limit is ${limit.epsilon}. ${so}`
      : `With this run, ε = ${shown(t.next_epsilon)} at δ = ${limit.delta.toExponential()} would have been spent on this data, more than your limit of ${limit.epsilon}. ${so}`;
    return fail(text,
      { kind: "limit", epsilon: t.epsilon, next_epsilon: t.next_epsilon, limit: limit.epsilon, delta: limit.delta });
  }

  // --- what scripts and the page use ---

  // groups numbers the data sets, so that their names need not be shown.
  function groups(records) {
    const of = new Map(); // name → group
    for (const r of records) {
      const known = new Set(r.names.map((n) => of.get(n)).filter(Boolean));
      const group = { names: [...r.names, ...[...known].flatMap((g) => g.names)] };
      for (const n of group.names) of.set(n, group);
    }
    const numbers = new Map();
    return (r) => {
      const g = of.get(r.names[0]);
      if (!numbers.has(g)) numbers.set(g, numbers.size + 1);
      return numbers.get(g);
    };
  }

  // surface is window.clipscope.ledger. namesOf finds a data handle's names.
  function surface(ledger, namesOf) {
    return Object.freeze({
      async entries() {
        const records = (await all()).sort((a, b) => a.entry.started < b.entry.started ? -1 : 1);
        const [held, number] = [await living(), groups(records)];
        return records.map((r) => ({
          run: r.run, data: number(r), label: r.label, started: r.entry.started, done: r.done, charged: r.entry.steps,
          state: r.entry.closed ? "closed" : held.has(NAME + "/" + r.run) ? "running" : "lost",
          unprotected: r.entry.unprotected ?? false, once: r.entry.once ?? [], per_step: r.entry.per_step ?? null,
        }));
      },
      async total(data, next) {
        const t = await ledger.spent(await namesOf(data), next ? { run: "next", data: "next", ...next } : undefined);
        t.limit = (await setting("limit"))?.epsilon ?? null;
        return t;
      },
      async limit(value) {
        if (value === undefined) return (await setting("limit")) ?? null;
        if (value !== null) {
          value = { epsilon: Number(value.epsilon), delta: Number(value.delta ?? DELTA) };
          if (!(value.epsilon > 0)) throw fail("A limit is a positive ε.", { field: "limit" });
          if (!(value.delta > 0 && value.delta < 1)) throw fail("The limit's δ lies between 0 and 1.", { field: "limit" });
        }
        await transact("readwrite", (_, settings) => value === null ? settings.delete("limit") : settings.put(value, "limit"));
        changed();
        return value;
      },
      async export() {
        return JSON.stringify({ made: new Date().toISOString(), limit: await this.limit(), runs: await this.entries() }, null, 2) + "\n";
      },
      async forget(data) {
        if (data === undefined) await transact("readwrite", (runs) => runs.clear());
        else {
          const { runs: mine } = await ledger.spent(await namesOf(data));
          await transact("readwrite", (runs) => { for (const run of mine) runs.delete(run); });
        }
        changed();
      },
      on(fn) {
        listeners.add(fn);
        return () => listeners.delete(fn);
      },
    });
  }

  globalThis.clipscopeLedger = { Ledger, surface, roundUp };
})();
