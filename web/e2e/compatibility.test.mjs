// What version 0.1.0 left in a browser is found by this one, and what its scripts knew is
// there (docs/compatibility.md).
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { ready, root, stage, STILL } from "./browser.mjs";

const { visit } = await stage();

const old = path.join(root, "testdata/0.1.0");
const read = (name) => JSON.parse(fs.readFileSync(path.join(old, name), "utf8"));
const api = read("api.json");

// rooms is the table that the old version trained on.
const rooms = "width,height,kind\n" + Array.from({ length: 60 }, (_, i) => `${(i * 7) % 17},${(i * 5) % 13},${i % 17 > 8 ? "wide" : "high"}`).join("\n") + "\n";

// restore puts into the browser what the old version had in its databases.
const restore = (page) => page.evaluate(async (all) => {
  const decoded = (v) => {
    if (Array.isArray(v)) return v.map(decoded);
    if (v === null || typeof v !== "object") return v;
    if (v.$undefined) return undefined;
    if (v.$number) return Number(v.$number);
    if (v.$typed) return new globalThis[v.$typed](Uint8Array.from(atob(v.base64), (c) => c.charCodeAt(0)).buffer);
    return Object.fromEntries(Object.entries(v).map(([k, x]) => [k, decoded(x)]));
  };
  for (const [name, { version, stores }] of Object.entries(all)) {
    const opening = indexedDB.open(name, version);
    opening.onupgradeneeded = () => {
      for (const [store, { keyPath }] of Object.entries(stores)) opening.result.createObjectStore(store, keyPath ? { keyPath } : undefined);
    };
    const db = await new Promise((resolve, reject) => { opening.onsuccess = () => resolve(opening.result); opening.onerror = () => reject(opening.error); });
    const t = db.transaction(Object.keys(stores), "readwrite");
    for (const [store, { keyPath, entries }] of Object.entries(stores)) {
      for (const [key, value] of entries) t.objectStore(store).put(decoded(value), keyPath ? undefined : key);
    }
    await new Promise((resolve, reject) => { t.oncomplete = resolve; t.onabort = () => reject(t.error); });
    db.close();
  }
}, read("indexeddb.json"));

test("the ledger and the runs that 0.1.0 kept are there, and count", async (t) => {
  const page = await visit(t, "");
  // A page of the same site that runs no program has nothing open.
  await page.goto(new URL("verify.html", page.url()).href);
  await page.evaluate(() => Promise.all(["clipscope-ledger", "clipscope-runs"].map((name) => new Promise((resolve) => { indexedDB.deleteDatabase(name).onsuccess = resolve; }))));
  await restore(page);
  await page.goto(new URL("./", page.url()).href);
  await ready(page);
  const [entry] = api.exported.runs;
  const seen = await page.evaluate(async ({ rooms, model }) => {
    const data = await clipscope.open({ train: [new File([rooms], "rooms.csv")] }), [e] = await clipscope.ledger.entries();
    const total = await clipscope.ledger.total(data);
    const refused = await clipscope.load(new File([model], "clipscope-parameters.json")).catch((e) => e.message);
    return { e, total, refused };
  }, { rooms, model: fs.readFileSync(path.join(old, "clipscope-parameters.json"), "utf8") });
  assert.deepEqual([seen.e.label, seen.e.done, seen.e.charged, seen.e.state, seen.e.per_step], [entry.label, entry.done, entry.charged, entry.state, entry.per_step]);
  const [, kept] = read("indexeddb.json")["clipscope-runs"].stores.bodies.entries[0];
  assert.equal(seen.total.runs.length, 1, "the file is known again");
  assert.ok(seen.total.epsilon > 0 && Math.abs(seen.total.epsilon - kept.result.statement.epsilons.pld) < 0.01, `${seen.total.epsilon}`);
  assert.match(seen.refused, /earlier version.*Train it again/);
  // The run is in the list, and opens with its result.
  await page.locator("#runs", { hasText: "Runs 1" }).click();
  await page.locator(".run-open").first().click();
  await page.getByText(kept.result.guarantee.slice(0, 60)).first().waitFor();
  assert.deepEqual(page.errors, []);
});

// missing are the names in what was answered that are not in what is, or are of another type.
function missing(was, is, at = "") {
  if (typeof was === "string") return was === (typeof is === "string" ? is : typeof is) || was === "object" && typeof is === "object" ? [] : [`${at}: ${was}, now ${JSON.stringify(is)}`];
  return Object.entries(was).flatMap(([key, v]) => missing(v, is?.[key], at ? `${at}.${key}` : key));
}

test("every name and field of the scripting API that 0.1.0 had is there", async (t) => {
  const page = await visit(t, STILL);
  const now = await page.evaluate(async ({ rooms, api }) => {
    const shape = (v, deep = 3) => v && typeof v === "object" && !ArrayBuffer.isView(v) && !Array.isArray(v) && deep ? Object.fromEntries(Object.keys(v).map((k) => [k, shape(v[k], deep - 1)])) : typeof v;
    const c = { data: "moons", model: { kind: "softmax" }, noise_multiplier: 1, target_delta: 1e-5, expected_batch_size: 50, steps: 5, accountant: "rdp", seed: 3 };
    const at = { noise_multiplier: 1, sample_rate: 0.01, steps: 10, target_delta: 1e-5 };
    const data = await clipscope.open({ train: [new File([rooms], "rooms.csv")] }), run = await clipscope.train(c), events = [];
    run.on((e) => events.push(e));
    const gone = [...api.clipscope.filter((n) => !(n in clipscope)), ...api.ledger.filter((n) => !(n in clipscope.ledger)), ...api.run.filter((n) => !(n in run))];
    const result = await run.done;
    return { gone, answers: {
      data: shape(data), methods: shape((await clipscope.methods())[1]), datasets: shape((await clipscope.datasets())[0]), plan: shape(await clipscope.plan(c)),
      result: shape(result), event: shape(events.at(-1)), report: shape(await clipscope.report(at)),
      calibrate: shape(await clipscope.calibrate({ ...at, noise_multiplier: undefined, target_epsilon: 1, accountant: "rdp" })),
      curve: shape(await clipscope.curve({ ...at, accountant: "rdp" })),
    } };
  }, { rooms, api });
  assert.deepEqual(now.gone, []);
  assert.deepEqual(missing(api.answers, now.answers), []);
});
