// The ledger of what runs have spent on each data set: its storage in this
// browser, and one tab after the other. What a run is charged, which data are the
// same, what entries come to and where the limit is passed are rules of
// core/privacy/ledger.go, which are asked through the trainer. A run's record is on
// disk before its first release. Nothing here leaves the device.
//
// Each run has a record of its own (run.Record) that only it changes, so tabs
// cannot write over each other's. Its names are worth nothing without the salt that they were
// made with: where the ledger was deleted and has another, the record carries its own, and
// counts for all data until a run, or its files, tell under the new salt whose it is.
import { PATIENCE, Store, then } from "./store.js";
import { say } from "./wire.js";
/** @import { Ask, Entering, Identify, Identity, LedgerRecord, Limit, Plan, Salted } from "./types.d.ts" */

const NAME = "clipscope-ledger";

// --- storage ---

const store = new Store(NAME, "The ledger", { kind: "ledger" }, { runs: { keyPath: "run" }, settings: {} },
  (_, settings) => { settings.put(new Date().toISOString(), "deleted"); });
/** @param {IDBTransactionMode} mode @param {(runs: IDBObjectStore, settings: IDBObjectStore) => IDBRequest | void} f */
const transact = (mode, f) => store.transact(mode, f);

const all = () => transact("readonly", (runs) => runs.getAll());
/** @param {string} key */
const setting = (key) => transact("readonly", (_, settings) => settings.get(key));

/** @param {number} bytes */
export function random(bytes) {
  return Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (b) => b.toString(16).padStart(2, "0")).join("");
}

// salt makes the names of data sets worthless to whoever does not have it.
async function salt() {
  const fresh = random(32);
  await transact("readwrite", (_, settings) => then(settings.get("salt"), (found) => { if (!found) settings.put(fresh, "salt"); }));
  return setting("salt");
}

/** @param {LedgerRecord} record */
const put = (record) => transact("readwrite", (runs) => runs.put(record));

// write puts a record beside the salt that its names were made with, and resolves with the
// ledger's. In an empty ledger that salt is put as well, so that all is recognised as before;
// beside another salt the record says its own.
/** @param {LedgerRecord} record @param {Salted} data @returns {Promise<string>} */
async function write(record, { salt: mine, ...data }) {
  const found = await transact("readwrite", (runs, settings) => then(settings.get("salt"), (there) => {
    if (!there) settings.put(mine, "salt");
    if ((there ?? mine) !== mine) {
      runs.put({ ...record, salt: mine });
      return;
    }
    then(settings.count("data/" + data.id), (known) => { if (!known) settings.put(data, "data/" + data.id); });
    runs.put(record);
  }));
  return found ?? mine;
}

// A ledger that is deleted is made anew at once, so that it says so.
store.onDeleted(() => { all().catch(() => {}); });

// What data sets are recognised by stands beside the runs once, however many there are
// on one. Versions before 0.3 kept it in a run's names alone, which stay as they were.
/** @returns {Promise<Identity[]>} */
const known = () => transact("readonly", (_, settings) => settings.getAll(IDBKeyRange.bound("data/", "data0", false, true)));

// prune forgets what no run is left of, while no run is being entered.
const prune = () => exclusively(async () => {
  const names = new Set((await all()).flatMap((/** @type {LedgerRecord} */ r) => r.names));
  const gone = (await known()).filter((data) => !data.names.some((name) => names.has(name)));
  await transact("readwrite", (_, settings) => { for (const { id } of gone) settings.delete("data/" + id); });
});

// --- tabs ---

// exclusively runs f while no other tab does. It waits for others no longer than
// each of them may take.
/** @template T @param {() => Promise<T>} f @returns {Promise<T>} */
function exclusively(f) {
  if (!navigator.locks) return inTurn(f);
  const waiting = new AbortController();
  const late = setTimeout(() => waiting.abort(store.broken("used", new Error("another tab does not let go of it"))), 6 * PATIENCE);
  return navigator.locks.request(NAME, { signal: waiting.signal }, () => {
    clearTimeout(late);
    return f();
  }).catch((e) => {
    clearTimeout(late);
    if (e?.name === "SecurityError") return inTurn(f); // where nothing may be stored there are no locks either
    throw e;
  });
}

// inTurn is exclusively by what is stored, one after the other in this page, so that
// tabs alone compete.
/** @template T @param {() => Promise<T>} f @returns {Promise<T>} */
function inTurn(f) {
  const mine = turn.then(() => stored(f));
  turn = mine.then(() => {}, () => {});
  return mine;
}
let turn = Promise.resolve();

// stored is exclusively where the browser has no locks: the lock is an entry in
// the storage, taken by looking and writing in one transaction. A tab that is
// gone renews it no more: clocks may differ, so a lock is stale once it was seen
// unchanged for a lease. A pause of this tab counts as no more than a second of that.
const LEASE = 5000; // ms
/** @template T @param {() => Promise<T>} f @returns {Promise<T>} */
async function stored(f) {
  const owner = random(16);
  let last = performance.now(), unchanged = 0, seen = "", stale = "";
  for (;;) {
    const lock = await take(owner, stale), now = performance.now(), text = JSON.stringify(lock);
    if (!lock || lock.owner === owner || text === stale) break;
    unchanged = text === seen ? unchanged + Math.min(now - last, 1000) : 0;
    stale = unchanged > LEASE ? text : "";
    seen = text;
    last = now;
    await new Promise((resolve) => setTimeout(resolve, 20 + 60 * Math.random()));
  }
  const renewing = setInterval(() => take(owner, "").catch(() => {}), LEASE / 4);
  try {
    return await f();
  } finally {
    clearInterval(renewing);
    await transact("readwrite", (_, settings) => void then(settings.get("lock"), (lock) => { if (lock?.owner === owner) settings.delete("lock"); }));
  }
}

// take takes the lock, or renews it, where it is free, the owner's, or stale. It resolves with
// the lock that was there. What until says matters to earlier versions; here it only changes.
/** @param {string} owner @param {string} stale @returns {Promise<{ owner: string, until: number } | undefined>} */
const take = (owner, stale) => transact("readwrite", (_, settings) => then(settings.get("lock"), (lock) => {
  if (!lock || lock.owner === owner || JSON.stringify(lock) === stale) settings.put({ owner, until: Date.now() + LEASE }, "lock");
}));

// alive holds a lock for as long as this tab lives, or until the function that
// it returns is called: others can tell a run that goes on from one that is lost.
/** @param {string} run */
function alive(run) {
  let release = () => {};
  navigator.locks?.request(NAME + "/" + run, () => new Promise((resolve) => { release = () => resolve(undefined); })).catch(() => {});
  return () => release();
}

async function living() {
  const held = (await navigator.locks?.query().catch(() => undefined))?.held ?? [];
  return new Set(held.map((l) => l.name));
}

// --- a run's entry ---

// Book keeps the entry of one run.
export class Book {
  #record;
  #data;
  #identify;
  #ask;
  #release;
  #told = 0;
  #writing = Promise.resolve();

  // data is what the record's names are, and identify makes that anew under another salt.
  /** @param {LedgerRecord} record @param {Salted} data @param {Identify} identify @param {Ask} ask */
  constructor(record, data, identify, ask) {
    this.#record = record;
    this.#data = data;
    this.#identify = identify;
    this.#ask = ask;
    const release = alive(record.run), deaf = store.onDeleted(() => {
      this.#write().then(() => store.changed()).catch(() => {}); // it is tried again with the next step
    });
    this.#release = () => {
      release();
      deaf();
    };
  }

  get names() { return this.#record.names; }

  /** @returns {Promise<void>} */
  write() { return this.#write(); }

  // drop gives the book up that was never written.
  drop() { this.#release(); }

  #write() {
    this.#writing = this.#writing.catch(() => {}).then(() => this.#store());
    return this.#writing;
  }

  // store counts the run for all data first where the ledger has another salt, and then for
  // its own, if its worker is there to tell.
  async #store() {
    for (let tries = 0; tries < 3; tries++) {
      const salt = await write({ ...this.#record }, this.#data);
      if (salt === this.#data.salt) return;
      const data = await this.#identify(salt).catch(() => undefined);
      if (!data) return;
      this.#data = { ...data, salt };
      this.#record = { ...this.#record, names: data.names };
    }
  }

  // progress notes the last step that was seen, which changes no charge.
  /** @param {number} step */
  progress(step) {
    this.#record.done = step;
    if (performance.now() - this.#told < 1000) return;
    this.#told = performance.now();
    this.#write().catch(() => {}); // the charge is on disk already
  }

  // close notes that the run has ended, and after how many steps; unreleased
  // says that it was never let go, doubtful that its check of itself failed, and ended that
  // it gave its result and never goes on.
  /** @param {number} done @param {boolean} unreleased @param {boolean} [doubtful] @param {boolean} [ended] */
  async close(done, unreleased, doubtful = false, ended = false) {
    try {
      await this.#writing.catch(() => {}); // which may name it anew
      this.#record = await this.#ask("close", { record: this.#record, done: done || 0, unreleased, doubtful, ended });
      await this.#write();
    } finally {
      this.#release();
      store.changed();
    }
  }
}

// --- what the client uses ---

// asked are the salts under which data have been looked at.
/** @type {WeakMap<Identify, Set<string | undefined>>} */
const asked = new WeakMap();

export class Ledger {
  #ask; // (type, body) → the trainer's answer, an object

  /** @param {Ask} ask */
  constructor(ask) { this.#ask = ask; }

  salt() { return salt(); }

  // account is all that there is to know of a data set.
  /** @param {Pick<Identity, "names"> & Partial<Identity>} of */
  async account({ names, marks = [] }) {
    return { records: await all(), data: await known(), names, marks, limit: (await setting("limit")) ?? null, deleted: await setting("deleted") };
  }

  // spent is what it has cost, and would with next.
  /** @param {Identity} of @param {object} [next] */
  async spent(of, next) {
    return this.#ask("spent", { ...await this.account(of), next: next ?? null });
  }

  // recognise says which runs spent on data that identify finds with the salt. Without
  // runs it does not look.
  /** @param {(salt: string) => Promise<Identity>} identify @returns {Promise<object[]>} */
  async recognise(identify) {
    if ((await all()).length === 0) return [];
    return this.#ask("recognised", await this.account(await identify(await salt())));
  }

  /** @param {boolean} [priced] @returns {Promise<{ run: string, closed: boolean }[]>} */
  async entries(priced = false) { return this.#ask("entries", { records: await all(), data: await known(), limit: (await setting("limit")) ?? null, priced }); }
  /** @param {Limit} limit */
  checked(limit) { return this.#ask("limit", limit); }

  // enter writes the record of a run that has released nothing yet, under the run's
  // name. It rejects where the run would go over the limit, and with ask where it has no
  // guarantee, unless anyway is true.
  /** @param {Entering} entering */
  async enter({ run, identify, label, method, plan, anyway, ask }) {
    await this.identified(identify); // which may take long, and what it takes is kept
    return exclusively(async () => {
      const data = await this.identified(identify);
      const record = await this.#ask("enter", { ...await this.account(data), run, label, method, started: new Date().toISOString(), plan, anyway, ask });
      const book = new Book(record, data, identify, this.#ask);
      try {
        await book.write();
      } catch (e) {
        book.drop();
        throw e;
      }
      navigator.storage?.persist?.().catch(() => {});
      store.changed();
      return book;
    });
  }

  // identified is what data is recognised by, with the salt. Runs of which it was not known
  // whose data they spent on are looked at: those on the same are known from then on.
  /** @param {Identify} identify @returns {Promise<Salted>} */
  async identified(identify) {
    const now = await salt(), lost = (await all()).filter((/** @type {LedgerRecord} */ r) => r.salt !== undefined);
    for (const old of new Set(lost.map((/** @type {LedgerRecord} */ r) => r.salt))) {
      if (asked.get(identify)?.has(old)) continue;
      const was = await identify(old).catch(() => undefined);
      asked.set(identify, (asked.get(identify) ?? new Set()).add(old));
      const mine = was && lost.filter((/** @type {LedgerRecord} */ r) => r.salt === old && r.names?.length > 0 && String(r.names) === String(was.names));
      if (!mine?.length) continue;
      const data = { ...await identify(now), salt: now };
      for (const { salt: _, ...record } of mine) await write({ ...record, names: data.names }, data);
    }
    return { ...await identify(now), salt: now };
  }

  /** @param {string} run @returns {Promise<LedgerRecord | undefined>} */
  find(run) { return transact("readonly", (runs) => runs.get(run)); }

  // restore writes the records of interrupted runs that the ledger has no more, and those that
  // charge less than what is stored of the run. Whose data the first spent on is told when the
  // runs go on.
  /** @param {LedgerRecord[]} kept */
  async restore(kept) {
    if (kept.length === 0) return;
    /** @type {LedgerRecord[]} */
    const records = await this.#ask("restore", { kept, records: await all() });
    if (records.length === 0) return;
    await transact("readwrite", (runs) => {
      for (const record of records) {
        then(runs.get(record.run), (now) => {
          runs.put(now ? { ...now, entry: { ...record.entry, closed: Boolean(now.entry?.closed) }, changed: true } : record);
        });
      }
    });
    store.changed();
  }

  // reopen writes the record of a run that was interrupted and goes on: it has been
  // charged. Its data are known to be the run's.
  /** @param {LedgerRecord} record @param {Plan | undefined} plan @param {Identify} identify */
  async reopen(record, plan, identify) {
    const { salt: _, ...again } = await this.#ask("reopen", { record, plan });
    const data = await this.identified(identify);
    const book = new Book({ ...again, names: data.names }, data, identify, this.#ask);
    await book.write();
    store.changed();
    return book;
  }

  // abandon closes the record of a run that was interrupted and does not go on. Its
  // charge stays.
  /** @param {string} run */
  async abandon(run) {
    const record = await this.find(run);
    if (!record) return;
    await put(await this.#ask("close", { record, done: record.done, unreleased: false, ended: true }));
    store.changed();
  }
}

// --- what scripts and the page use ---

// surface is window.clipscope.ledger. identityOf finds what a data handle is recognised by,
// tested: with that of its test rows, on which a tuning spends. discard gives up what is kept
// of an interrupted run.
/** @param {Ledger} ledger @param {(data: unknown, tested: boolean) => Promise<Identity>} identityOf @param {(run: string) => Promise<unknown>} discard */
export function surface(ledger, identityOf, discard) {
  return Object.freeze({
    /** @param {{ priced?: boolean }} [options] */
    async entries({ priced = false } = {}) {
      clipscopeEarly.use();
      const lines = await ledger.entries(priced), held = await living();
      return lines.map(({ closed, ...line }) => ({
        ...line, state: closed ? "closed" : held.has(NAME + "/" + line.run) ? "running" : "lost",
      }));
    },
    /** @param {unknown} data @param {{ tested?: boolean } | { tested?: boolean }[]} [next] */
    async total(data, next) { return ledger.spent(await identityOf(data, [next].flat().some((n) => n?.tested)), next); },
    /** @param {Limit | null} [value] */
    async limit(value) {
      clipscopeEarly.use();
      if (value === undefined) return (await setting("limit")) ?? null;
      if (value !== null) value = await ledger.checked(value);
      await transact("readwrite", (_, settings) => value === null ? settings.delete("limit") : settings.put(value, "limit"));
      store.changed();
      return value;
    },
    async export() {
      return say({ made: new Date().toISOString(), limit: await this.limit(), runs: await this.entries() }, 2) + "\n";
    },
    /** @param {unknown} [data] */
    async forget(data) {
      clipscopeEarly.use();
      const lines = await ledger.entries();
      let mine = lines.map(({ run }) => run);
      if (data === undefined) await transact("readwrite", (runs) => runs.clear());
      else {
        const { runs, unknown = [] } = await ledger.spent(await identityOf(data, false));
        mine = runs.filter((/** @type {string} */ run) => !unknown.includes(run)); // which may be another's
        await transact("readwrite", (runs) => { for (const run of mine) runs.delete(run); });
      }
      // What could go on from them would have their charge come back.
      for (const { run, closed } of lines) if (!closed && mine.includes(run)) await discard(run).catch(() => {});
      await prune();
      store.changed();
    },
    /** @param {() => void} fn */
    on(fn) { return store.on(fn); },
  });
}
