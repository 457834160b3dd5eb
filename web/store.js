// What the page keeps in this browser: a database of IndexedDB, and word of its
// changes to all tabs. Nothing here leaves the device.
(() => {
  "use strict";

  const { fail } = clipscopeWire;

  /** @param {DOMException | Error | null} e */
  const why = (e) => e?.name === "QuotaExceededError" ? "it is full" : e?.message || e?.name || "no reason given";

  class Store {
    #name;
    #title;
    #detail;
    #stores;
    /** @type {Promise<IDBDatabase> | undefined} */
    #opened;
    #channel;
    /** @type {Set<() => void>} */
    #listeners = new Set();

    // title is what the store is called in errors, detail what goes with these, and
    // stores are the parts with their options.
    /** @param {string} name @param {string} title @param {object} detail @param {Record<string, IDBObjectStoreParameters>} stores */
    constructor(name, title, detail, stores) {
      this.#name = name;
      this.#title = title;
      this.#detail = detail;
      this.#stores = stores;
      this.#channel = globalThis.BroadcastChannel ? new BroadcastChannel(name) : undefined;
      if (this.#channel) this.#channel.onmessage = () => this.#tell();
    }

    #database() {
      this.#opened ??= new Promise((resolve, reject) => {
        const request = indexedDB.open(this.#name, 1);
        request.onupgradeneeded = () => {
          for (const [part, options] of Object.entries(this.#stores)) request.result.createObjectStore(part, options);
        };
        request.onsuccess = () => {
          const db = request.result;
          db.onversionchange = db.onclose = () => { db.close(); this.#opened = undefined; };
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
    // disk.
    /** @param {IDBTransactionMode} mode @param {(...parts: IDBObjectStore[]) => IDBRequest | void} f @returns {Promise<any>} */
    async transact(mode, f) {
      /** @param {string} what @param {DOMException | Error | null} e */
      const wrong = (what, e) => fail(`${this.#title} in this browser's storage cannot be ${what} (${why(e)}).`, this.#detail);
      let db;
      try {
        db = await this.#database();
      } catch (e) {
        throw wrong("opened", e);
      }
      return new Promise((resolve, reject) => {
        const names = Object.keys(this.#stores);
        const t = db.transaction(names, mode, { durability: "strict" });
        t.onabort = () => reject(wrong("used", t.error)); // an error aborts it, and is known only then
        try {
          const request = f(...names.map((part) => t.objectStore(part)));
          t.oncomplete = () => resolve(request?.result);
        } catch (e) { // too large to be copied
          reject(wrong("used", e));
          t.abort();
        }
      });
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
  }

  globalThis.clipscopeStore = Object.freeze({ Store });
})();
