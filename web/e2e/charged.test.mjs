// What a run on files has spent counts, whatever becomes of the ledger while it goes on or
// rests, and the run goes on with what it takes to read its files as they were read.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, ready, stage, STILL } from "./browser.mjs";

const { visit } = await stage();

// Tables of two firsts have no row in common.
const table = (rows, first = 0) => "age,height,bought\n" + Array.from({ length: rows }, (_, i) => `${(i * 7) % 90 + first / 8},${(i * 5) % 130},${i % 2}`).join("\n") + "\n";
const base = { model: { kind: "softmax" }, noise_multiplier: 4, max_grad_norm: 1, target_delta: 1e-5, expected_batch_size: 40, steps: 300, learning_rate: 0.1, threads: 1 };
const entries = (page) => page.evaluate(() => clipscope.ledger.entries());
const total = (page, text) => page.evaluate(async (text) => {
  const data = await clipscope.open({ train: [new File([text], "again.csv")] });
  try {
    return await clipscope.ledger.total(data);
  } finally {
    data.close();
  }
}, text);
const deleted = (page) => page.evaluate(() => new Promise((resolve, reject) => {
  const request = indexedDB.deleteDatabase("clipscope-ledger");
  request.onsuccess = () => resolve(undefined);
  request.onerror = () => reject(request.error);
}));

test("a run on a handle goes on after a reload with the plain files, though the ledger was deleted meanwhile", async (t) => {
  const page = await visit(t, STILL), where = page.url();
  const sent = [table(400), table(60, 3), { ...base, scaling: { kind: "private" } }];
  const before = await page.evaluate(async ([train, tests, config]) => {
    const read = { label: "bought", bounds: { age: { lo: 0, hi: 120 } }, columns: { height: "numeric" } };
    const data = await clipscope.open({ train: [new File([train], "people.csv")], test: [new File([tests], "others.csv")] }, read);
    const run = await clipscope.train(config, data, { paused: true }), seen = new Promise((resolve) => run.on(resolve));
    run.step();
    await seen;
    await run.memory();
    return { epsilon: run.plan.epsilon, id: run.keep.id, once: (await clipscope.ledger.entries())[0].once };
  }, sent);
  await eventually(async () => assert.ok(await page.evaluate(async () => {
    const runs = await (await navigator.storage.getDirectory()).getDirectoryHandle("clipscope-runs");
    for await (const run of /** @type {any} */ (runs).values()) for await (const file of run.values()) if (file.name < "2" && (await file.getFile()).size > 0) return true;
    return false;
  }), "the run is not stored"));
  // A page of the site that runs no program: nobody has the ledger open.
  await page.goto(new URL("verify.html", where).href);
  await deleted(page);
  await page.goto(where);
  await ready(page);
  const list = await page.evaluate(() => clipscope.interrupted());
  assert.deepEqual([list.length, list[0].id, list[0].config.csv.bounds.age.hi, list[0].record, list[0].trained], [1, before.id, 120, undefined, undefined]);
  const [entry] = await entries(page);
  assert.deepEqual([entry.run, entry.charged, entry.state, entry.unknown, entry.once], [before.id, 300, "lost", true, before.once]);
  const stranger = await total(page, table(200, 5));
  assert.deepEqual([stranger.runs, stranger.unknown, stranger.open], [[before.id], [before.id], 1], "it counts for data that it may have been on");
  assert.ok(stranger.epsilon > 0);
  assert.match(stranger.text, /1 of them counts for every data set: the ledger was deleted during the run/);
  const end = await page.evaluate(async ([train, tests, other]) => {
    const file = (text, name) => new File([text], name), [{ id }] = await clipscope.interrupted();
    const refused = [];
    for (const files of [{ train: [file(other, "people.csv")], test: [file(tests, "others.csv")] }, { train: [file(train, "people.csv")], test: [file(other, "others.csv")] }]) {
      refused.push(await clipscope.continue(id, files).then(() => "", (e) => e.detail.field + ": " + e.message));
    }
    const run = await clipscope.continue(id, { train: [file(train, "people.csv")], test: [file(tests, "others.csv")] });
    let first = 0;
    run.on((e) => { first ||= e.step; });
    const result = await run.done;
    return { refused, first, steps: result.steps, lost: result.lost_steps ?? 0, epsilon: result.epsilon, statement: result.statement.ledger.runs, tested: result.test_accuracy };
  }, [...sent.slice(0, 2), table(200, 5)]);
  assert.match(end.refused[0], /^data: .*not the data that the run was interrupted on/);
  assert.match(end.refused[1], /^data: .*the same test files/);
  assert.deepEqual([end.first, end.steps, end.lost, end.epsilon, end.statement], [2, 300, 0, before.epsilon, 1]);
  assert.ok(end.tested >= 0);
  assert.deepEqual((await entries(page)).map((e) => [e.run, e.state, e.charged, e.unknown, e.once]), [[before.id, "closed", 300, undefined, before.once]]);
  assert.deepEqual([(await total(page, table(400))).runs, (await total(page, table(200, 5))).runs], [[before.id], []]);
  assert.deepEqual(page.errors, []);
});

test("a run counts though the ledger is deleted while it goes on, for all data until it is known whose it is", async (t) => {
  const page = await visit(t, STILL);
  const begun = (text) => page.evaluate(async ([text, config]) => {
    const run = await clipscope.train(config, { train: [new File([text], "table.csv")] }, { paused: true });
    Object.assign(window, { run });
    return run.keep.id;
  }, [text, { ...base, scaling: { kind: "declared", lo: 0, hi: 130 } }]);
  const step = () => page.evaluate(async () => {
    const { run } = /** @type {any} */ (window), seen = new Promise((resolve) => run.on(resolve));
    run.step();
    await seen;
  });
  // another puts another salt in the place of the ledger's, as a tab does that is there first.
  const another = () => page.evaluate(() => new Promise((resolve) => {
    indexedDB.open("clipscope-ledger").onsuccess = (e) => {
      const db = /** @type {IDBOpenDBRequest} */ (e.target).result, change = db.transaction(["settings", "runs"], "readwrite");
      change.objectStore("settings").clear();
      change.objectStore("runs").clear();
      change.objectStore("settings").put(Array.from({ length: 32 }, () => Math.floor(256 * Math.random()).toString(16).padStart(2, "0")).join(""), "salt");
      change.oncomplete = () => { db.close(); resolve(undefined); };
    };
  }));

  // Deleted while the run rests: it is there again at once, and for its own data alone.
  const first = await begun(table(400));
  await step();
  await deleted(page);
  await eventually(async () => assert.deepEqual((await entries(page)).map((e) => [e.run, e.charged, e.unknown]), [[first, 300, undefined]]));
  const mine = await total(page, table(400));
  assert.deepEqual([mine.runs, mine.deleted?.slice(0, 2), (await total(page, table(200, 5))).runs], [[first], "20", []]);
  assert.match(mine.text, /The ledger was deleted on 20\d\d-\d\d-\d\d: what had been spent before is not counted/);

  // Another salt is there: the run's worker tells whose it is.
  await another();
  await eventually(async () => {
    await step();
    assert.deepEqual((await entries(page)).map((e) => [e.run, e.unknown]), [[first, undefined]]);
  });
  assert.deepEqual([(await total(page, table(400))).runs, (await total(page, table(200, 5))).runs], [[first], []]);

  // And nobody is there to tell: it counts for all, cannot be forgotten with other data, and is
  // known when its own files are open.
  await another();
  await page.evaluate(() => /** @type {any} */ (window).run.dispose());
  await eventually(async () => assert.deepEqual((await entries(page)).map((e) => [e.run, e.charged, e.unknown]), [[first, 300, true]]));
  const stranger = await total(page, table(200, 5));
  assert.deepEqual([stranger.runs, stranger.unknown], [[first], [first]]);
  await page.evaluate(async (text) => {
    const data = await clipscope.open({ train: [new File([text], "t.csv")] });
    await clipscope.ledger.forget(data);
    data.close();
  }, table(200, 5));
  const own = await total(page, table(400));
  assert.deepEqual([own.runs, own.unknown, own.epsilon], [[first], undefined, mine.epsilon]);
  assert.deepEqual((await total(page, table(200, 5))).runs, []);
  assert.deepEqual(page.errors, []);
});

test("a run is its own, whatever else is asked of its data while it is prepared", async (t) => {
  const page = await visit(t, STILL);
  const end = await page.evaluate(async ([text, config]) => {
    const data = await clipscope.open({ train: [new File([text], "t.csv")] }), heard = [];
    const preparing = clipscope.train({ ...config, steps: 5 }, data, { paused: true }), questions = [];
    for (let i = 0; i < 50; i++) {
      questions.push(clipscope.plan(config, data));
      await new Promise((resolve) => setTimeout(resolve));
    }
    const run = await preparing;
    run.on((e) => heard.push(e.step));
    run.resume();
    const result = await run.done;
    const asked = (await Promise.all(questions)).length;
    data.close();
    return { asked, heard: heard.at(-1), steps: result.steps };
  }, [table(400), base]);
  assert.deepEqual([end.asked, end.heard, end.steps], [50, 5, 5]);
  assert.deepEqual(page.errors, []);
});
