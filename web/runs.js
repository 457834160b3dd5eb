// Runs that have ended, in this browser's storage until their owner deletes them:
// for each what a list shows of it, and apart from that, as it is large, all that it
// takes to show the run again. Points hold diagnostic values: nothing here leaves
// the device. What is kept of a run is decided in ui/train.
import { Store } from "./store.js";
import { fail } from "./wire.js";
/** @import { Result } from "./types.d.ts" */

const store = new Store("clipscope-runs", "The list of runs", {}, { entries: { keyPath: "id" }, bodies: {} });

/** @param {Promise<any>} done */
const then = (done) => done.then((v) => { store.changed(); return v; });

export const runs = Object.freeze({
  /** @returns {Promise<object[]>} */
  list: () => store.transact("readonly", (entries) => entries.getAll()),

  // keep stores a run; its entry is told how much room it takes.
  /** @param {{ id: string, bytes: number }} entry @param {string} text @param {Uint8Array} points @param {Result} [result] */
  keep(entry, text, points, result) {
    const parameters = result && Float32Array.from(result.released.parameters ?? []);
    // Mistakes and answers are of rows of the data, of which nothing is kept.
    const body = { text, points, result: result && { ...result, mistakes: undefined, answers: undefined, released: { ...result.released, parameters } } };
    entry.bytes = text.length + points.byteLength + (parameters?.byteLength ?? 0) + 8 * (result?.released.max_grad_norm?.length ?? 0);
    navigator.storage?.persist?.().catch(() => {});
    return then(store.transact("readwrite", (entries, bodies) => {
      bodies.put(body, entry.id);
      entries.put(entry);
    }));
  },

  /** @param {string} id */
  async open(id) {
    const body = await store.transact("readonly", (_, bodies) => bodies.get(id));
    if (!body) throw fail("This run is no longer in this browser's storage: it was deleted, here or in another tab.");
    return body;
  },

  /** @param {string} id */
  remove: (id) => then(store.transact("readwrite", (entries, bodies) => {
    entries.delete(id);
    bodies.delete(id);
  })),

  /** @param {() => void} fn */
  on: (fn) => store.on(fn),
});
