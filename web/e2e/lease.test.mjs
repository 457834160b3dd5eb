// Where the browser has no locks, tabs take turns by a lease in the storage.
import assert from "node:assert/strict";
import { test } from "node:test";
import { open, stage, STILL } from "./browser.mjs";

const { server, alone } = await stage();

test("a lease that is renewed is not taken, however far ahead its clock is, and one that is no more is", async (t) => {
  const context = await alone(t);
  await context.addInitScript(() => { Object.defineProperty(Navigator.prototype, "locks", { get: () => undefined }); });
  const page = await open(context, server.url + STILL);
  const order = await page.evaluate(async () => {
    await clipscope.ledger.limit(); // which makes the ledger
    const renew = (until) => new Promise((resolve, reject) => {
      const request = indexedDB.open("clipscope-ledger");
      request.onerror = () => reject(request.error);
      request.onsuccess = () => {
        const t = request.result.transaction("settings", "readwrite"), settings = t.objectStore("settings"), was = settings.get("lock");
        settings.put({ owner: "another tab", until }, "lock");
        t.oncomplete = () => {
          request.result.close();
          resolve(was.result?.owner);
        };
      };
    });
    const owners = new Set([await renew(Date.now() + 3_600_000)]);
    let taken = false;
    const turn = clipscope.ledger.forget().then(() => { taken = true; }); // which has its turn once it has the lease
    for (let i = 1; i <= 30; i++) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      owners.add(await renew(Date.now() + 3_600_000 + i));
    }
    const early = taken;
    await turn; // the lease is renewed no more
    return { early, owners: [...owners] };
  });
  assert.deepEqual(order, { early: false, owners: [undefined, "another tab"] });
});
