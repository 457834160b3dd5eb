// What the ledger says where the browser's storage refuses it: why, and what to do.
import assert from "node:assert/strict";
import { test } from "node:test";
import { STILL, stage } from "./browser.mjs";

const { visit } = await stage();

// told is what a run is refused by.
const told = (/** @type {any} */ page) => page.evaluate(() => {
  const rows = Array.from({ length: 60 }, (_, i) => `${i % 7},${i % 2 ? "a" : "b"}`).join("\n");
  return clipscope.train({ noise_multiplier: 1, expected_batch_size: 20, steps: 3, model: { kind: "softmax" }, csv: { label: "kind" } }, { train: [new File(["x,kind\n" + rows], "t.csv")] })
    .then((run) => run.done).then(() => "", (e) => e.message);
});

test("a ledger that cannot be written, or is of a later version, is refused with what to do", async (t) => {
  const page = await visit(t, STILL);
  await page.evaluate(() => {
    const put = IDBObjectStore.prototype.put;
    IDBObjectStore.prototype.put = () => { throw new DOMException("no room", "QuotaExceededError"); };
    /** @type {any} */ (window).undo = () => { IDBObjectStore.prototype.put = put; };
  });
  assert.match(await told(page), /^The ledger in this browser's storage cannot be used \(it is full\)\. Free space on this device, or forget entries/);
  await page.evaluate(() => /** @type {any} */ (window).undo());
  assert.equal(await told(page), "");
  await page.evaluate(() => new Promise((resolve, reject) => {
    const request = indexedDB.open("clipscope-ledger", 999);
    request.onsuccess = () => { request.result.close(); resolve(undefined); };
    request.onerror = request.onblocked = reject;
  }));
  assert.match(await told(page), /^The ledger in this browser's storage cannot be opened \(a later version of this page has written it\)\. Reload the page\./);
  assert.deepEqual(page.errors, []);
});
