// What the page keeps in this browser: a database of IndexedDB, and word of its
// changes to all tabs. Nothing here leaves the device.
import { fail } from "./wire.js";

// reason says what is wrong with storage, and what to do. Browsers say of some errors no more than
// their names.
/** @param {DOMException | Error | null | undefined} e @returns {[string, string]} */
function reason(e) {
  switch (e?.name) {
    case "QuotaExceededError": return ["it is full", "Free space on this device, or forget entries that are no longer needed."];
    case "VersionError": return ["a later version of this page has written it", "Reload the page. If that does not help, delete this site's data in the browser's settings: entries and interrupted runs are lost."];
    case "SecurityError": return ["the browser refuses it", "Let this site keep data, in the browser's settings, or use a window that is not private."];
  }
  return [(e?.message || e?.name || "no reason given").replace(/\.$/, ""), "Close the site's other tabs and reload this one. If that does not help, restart the browser."];
}

/** @type {WeakMap<IDBTransaction, Error>} */
const thrown = new WeakMap();

// then calls f when a request of a transaction has succeeded. The transaction is aborted, and rejects, with what f throws.
/** @template T @param {IDBRequest<T>} request @param {(result: T) => void} f @returns {IDBRequest<T>} */
export function then(request, f) {
  request.onsuccess = () => {
    const transaction = /** @type {IDBTransaction} */ (request.transaction);
    try {
      f(request.result);
    } catch (e) {
      thrown.set(transaction, e);
      transaction.abort();
    }
  };
  return request;
}

// answered is promise, for so long: the storage of some browsers, in some
// windows, neither answers nor refuses.
export const PATIENCE = 10_000; // ms
/** @template T @param {Promise<T>} promise @returns {Promise<T>} */
function answered(promise) {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error("it does not answer")), PATIENCE);
    promise.then(resolve, reject).finally(() => clearTimeout(late));
  });
}

export class Store {
  #name;
  #title;
  #detail;
  #stores;
  /** @type {Promise<IDBDatabase> | undefined} */
  #opened;
  /** @type {BroadcastChannel | undefined} */
  #channel;
  /** @type {Set<() => void>} */
  #listeners = new Set();
  /** @type {Set<() => void>} */
  #mourners = new Set();
  #renewed;
  #been = false; // opened before

  // title is what the store is called in errors, detail what goes with these, and
  // stores are the parts with their options. renewed is called in the transaction that makes
  // it anew after it was deleted while this page had it open.
  /** @param {string} name @param {string} title @param {object} detail @param {Record<string, IDBObjectStoreParameters>} stores @param {(...parts: IDBObjectStore[]) => void} [renewed] */
  constructor(name, title, detail, stores, renewed) {
    this.#name = name;
    this.#title = title;
    this.#detail = detail;
    this.#stores = stores;
    this.#renewed = renewed;
    try {
      this.#channel = new BroadcastChannel(name);
      this.#channel.onmessage = () => this.#tell();
    } catch { /* none, or not where nothing may be stored: other tabs are not told */ }
  }

  #database() {
    this.#opened ??= new Promise((resolve, reject) => {
      const request = indexedDB.open(this.#name, 1);
      request.onupgradeneeded = () => {
        const parts = Object.entries(this.#stores).map(([part, options]) => request.result.createObjectStore(part, options));
        if (this.#been) this.#renewed?.(...parts);
      };
      request.onsuccess = () => {
        const db = request.result;
        this.#been = true;
        db.onversionchange = db.onclose = (/** @type {Event & { newVersion?: number | null }} */ e) => {
          db.close();
          this.#opened = undefined;
          if (e.newVersion) return; // another version of the page takes it over
          for (const fn of this.#mourners) fn();
          this.#tell();
        };
        resolve(db);
      };
      request.onerror = () => reject(request.error);
      request.onblocked = () => reject(new Error("another tab holds an older version of it open"));
    }).catch((e) => {
      this.#opened = undefined;
      throw e;
    });
    return this.#opened;
  }

  // transact runs f, which is given the parts and makes requests, in one
  // transaction and resolves with what f's request answers once everything is on
  // disk. Where that takes too long nothing is written.
  /** @param {IDBTransactionMode} mode @param {(...parts: IDBObjectStore[]) => IDBRequest | void} f @returns {Promise<any>} */
  async transact(mode, f) {
    const db = await answered(this.#database()).catch((e) => { throw this.broken("opened", e); });
    /** @type {IDBTransaction | undefined} */
    let t;
    return answered(new Promise((resolve, reject) => {
      const names = Object.keys(this.#stores), mine = t = db.transaction(names, mode, { durability: "strict" });
      mine.onabort = () => reject(thrown.get(mine) ?? mine.error); // an error aborts it, and is known only then
      const request = f(...names.map((part) => mine.objectStore(part))); // throws what is too large to be copied
      mine.oncomplete = () => resolve(request?.result);
    })).catch((e) => {
      try { t?.abort(); } catch { /* it is over */ }
      throw this.broken("used", e);
    });
  }

  // broken says what keeps the store from being opened, or used, and what to do.
  /** @param {string} done @param {DOMException | Error | null | undefined} e */
  broken(done, e) {
    const [why, advice] = reason(e);
    return fail(`${this.#title} in this browser's storage cannot be ${done} (${why}). ${advice}`, this.#detail);
  }

  #tell() { for (const fn of this.#listeners) fn(); }

  // changed tells all tabs of a change.
  changed() {
    this.#channel?.postMessage("changed");
    this.#tell();
  }

  /** @param {() => void} fn */
  on(fn) {
    this.#listeners.add(fn);
    return () => this.#listeners.delete(fn);
  }

  // onDeleted calls back when the browser, or somebody, deletes what is stored while this page
  // has it open.
  /** @param {() => void} fn */
  onDeleted(fn) {
    this.#mourners.add(fn);
    return () => this.#mourners.delete(fn);
  }
}
