// Runs that are interrupted, by a reload, the end of their worker or of the browser, go
// on, and are charged once.
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually, open, profiled, ready, stage, until } from "./browser.mjs";

const { server, visit } = await stage();

const table = (rows) => "width,height,kind\n" + Array.from({ length: rows }, (_, i) => `${(i * 7) % 17},${(i * 5) % 13},${i % 2}`).join("\n") + "\n";
const onTable = { model: { kind: "softmax" }, method: "quantile", noise_multiplier: 4, max_grad_norm: 1, target_delta: 1e-5, expected_batch_size: 20, steps: 400_000, learning_rate: 0.1, scaling: { kind: "declared", lo: 0, hi: 20 }, backend: "simd", threads: 1 };
const onMoons = { ...onTable, data: "moons", model: { kind: "mlp", hidden: [32] }, scaling: undefined, optimizer: "adam", seed: 7, noise_multiplier: 1, steps: 1000 };

// vanish ends a page's workers without a word, as the browser may.
const vanish = (page) => Promise.all(page.workers().map((worker) => worker.evaluate(() => self.close()).catch(() => {})));

// stored waits until a run's state, which the files 0 and 1 of its folder hold in turn, has been
// written since a moment. Both are made, empty, before the first is written.
const stored = (page, since) => eventually(async () => assert.ok(await page.evaluate(async (since) => {
  const runs = await (await navigator.storage.getDirectory()).getDirectoryHandle("clipscope-runs");
  for await (const run of /** @type {any} */ (runs).values()) {
    for await (const handle of run.values()) {
      const file = await handle.getFile();
      if (["0", "1"].includes(file.name) && file.size > 0 && file.lastModified > since) return true;
    }
  }
  return false;
}, since), "no state is stored"));

// begin has a run on a table, a new one or one that was interrupted, go on until it is stored, and
// so long from then on. It says what was seen of it.
async function begin(page, run, text, ms) {
  const since = await page.evaluate(async ([run, text]) => {
    const since = Date.now(), files = { train: [new File([text], "table.csv")] }, w = Object.assign(window, { first: 0, seen: 0 });
    const going = await (typeof run === "string" ? clipscope.continue(run, files) : clipscope.train(run, files));
    going.on((e) => { w.first ||= e.step; w.seen = e.step; });
    return since;
  }, [run, text]);
  await stored(page, since);
  await sleep(ms);
  return page.evaluate(() => ({ first: Object(window).first, seen: Object(window).seen }));
}

// goOn has an interrupted run go on until its end.
const goOn = (page, id, text) => page.evaluate(async ([id, text]) => {
  const run = await clipscope.continue(id, text && { train: [new File([text], "table.csv")] });
  let first = 0;
  run.on((e) => { first ||= e.step; });
  const { statement, ...result } = await run.done;
  return { first, result, text: statement?.text, parameters: Array.from(result.released.parameters ?? []) };
}, [id, text]);
const PLANNED = 60_000; // steps of a run that is left on the way: seconds more than a page takes to leave
const list = (page) => page.evaluate(() => clipscope.interrupted());
const entries = (page) => page.evaluate(() => clipscope.ledger.entries());

test("a run on a file goes on after a reload, with that file alone, and is charged once", async (t) => {
  const page = await visit(t, "");
  const config = { ...onTable, steps: PLANNED };
  const before = await page.evaluate(async ([config, text]) => {
    const run = await clipscope.train(config, { train: [new File([text], "table.csv")] });
    let seen = 0;
    const at = (step) => new Promise((resolve) => run.on((e) => { seen = e.step; if (seen >= step) resolve(seen); }));
    await at(1000);
    run.store();
    await run.memory(); // what is told after this answer is told after the state was stored
    await at(seen + 2000);
    return { seen, epsilon: run.plan.epsilon };
  }, [config, table(400)]);
  assert.deepEqual(await list(page), [], "a run that goes on is not interrupted");
  await page.reload();
  await ready(page);
  const [stored, ...more] = await list(page);
  assert.deepEqual([more.length, stored.data, stored.steps, stored.builtin], [0, "table.csv", PLANNED, undefined]);
  assert.ok(stored.released >= before.seen && stored.step <= stored.released && stored.step > 0, JSON.stringify([stored, before]));
  const [charged] = await entries(page);
  assert.deepEqual([charged.state, charged.charged], ["lost", PLANNED]);
  const refused = await page.evaluate(([id, text]) => clipscope.continue(id, { train: [new File([text], "table.csv")] }).then(() => "", (e) => e.message), [stored.id, table(399) + "1,1,1\n"]);
  assert.match(refused, /not the data that the run was interrupted on/);
  const end = await goOn(page, stored.id, table(400));
  assert.equal(end.first, stored.released + 1);
  assert.deepEqual([end.result.steps, end.result.stopped, end.result.planned_steps, end.result.lost_steps ?? 0], [PLANNED, undefined, PLANNED, stored.released - stored.step]);
  assert.equal(end.result.epsilon, before.epsilon);
  assert.match(end.text, /over 60,?000 planned steps/);
  assert.match(end.result.notes.join(" "), /was interrupted/);
  const after = await entries(page);
  assert.deepEqual(after.map((e) => [e.run, e.state, e.charged]), [[charged.run, "closed", PLANNED]]);
  assert.deepEqual(await list(page), []);
  assert.deepEqual(page.errors, []);
});

test("a run with a fixed seed whose worker is gone goes on from the page, and ends with the same parameters", async (t) => {
  const page = await visit(t, "");
  const undisturbed = await page.evaluate(async (config) => Array.from((await (await clipscope.train(config)).done).released.parameters), onMoons);
  const paused = await page.evaluate(async (config) => {
    const run = await clipscope.train(config);
    await new Promise((resolve) => run.on((e) => { if (e.step > 100) resolve(e); }));
    Object.assign(window, { run, failed: run.done.catch((e) => e.message) });
    const since = Date.now();
    run.pause(); // which stores it
    await run.memory();
    return since;
  }, onMoons);
  await page.waitForFunction(() => Object(window).run.state === "paused");
  await stored(page, paused);
  await vanish(page);
  assert.match(await page.evaluate(() => globalThis.failed), /gone without a word/);
  await until(page, async () => (await clipscope.interrupted()).length === 1);
  await page.reload();
  await page.locator("#interrupted-go-on:not([disabled])").click();
  await page.locator("#interrupted").waitFor({ state: "hidden" });
  await page.waitForFunction(() => document.querySelector("#made").textContent.startsWith("Run of"));
  const [kept] = await eventually(async () => {
    const all = await page.evaluate(() => clipscopePage.runs.list().then((l) => Promise.all(l.map((e) => clipscopePage.runs.open(e.id)))));
    assert.equal(all.length, 1);
    return all;
  });
  assert.deepEqual([kept.result.steps, kept.result.lost_steps], [onMoons.steps, undefined]);
  assert.deepEqual(Object.values(kept.result.released.parameters), undisturbed);
});

// Killed at random: the page is loaded again or closed, the worker ends, the browser is
// killed. CLIPSCOPE_KILLS is how often.
const KILLS = Number(process.env.CLIPSCOPE_KILLS ?? 3), STEPS = 20_000_000; // more than it takes between 50 kills
test(`a run that is killed ${KILLS} times goes on each time, and never counts fewer steps than were seen`, { timeout: 300_000 + 120_000 * KILLS }, async (t) => {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), "clipscope-resume-"));
  let context = await profiled(dir);
  t.after(async () => { // hooks are called in their order, and a browser that is open writes to its folder
    await context.close().catch(() => {});
    fs.rmSync(dir, { recursive: true, force: true });
  });
  const config = { ...onTable, steps: STEPS }, text = table(400);
  let page = await open(context, server.url), id = "", released = 0, lost = 0, state = 0;
  const kinds = { reload: 0, close: 0, worker: 0, browser: 0 }, ways = Object.keys(kinds);
  for (let kill = 0; kill < KILLS; kill++) {
    const { seen, first } = await begin(page, id || config, text, Math.random() * (KILLS > 3 ? 2800 : 500));
    if (kill > 0) assert.equal(first, released + 1, "it goes on behind what may have been seen");
    const way = ways[KILLS <= ways.length ? kill : Math.floor(Math.random() * ways.length)];
    kinds[way]++;
    switch (way) {
      case "reload":
        await page.reload();
        break;
      case "close":
        await page.close();
        page = await context.newPage();
        await page.goto(server.url);
        break;
      case "worker": // the page stays
        await vanish(page);
        break;
      default:
        process.kill(browserOf(dir), "SIGKILL");
        await context.close().catch(() => {});
        context = await profiled(dir);
        page = await open(context, server.url);
    }
    await ready(page);
    await until(page, async () => (await clipscope.interrupted()).length === 1);
    const [stored] = await list(page);
    assert.ok(stored.released >= seen && stored.released >= released && stored.step > state, `${way}: step ${seen} was seen; ${JSON.stringify([stored.step, stored.released])}, before ${state}, ${released}`);
    lost += stored.released - stored.step;
    ({ id, released, step: state } = stored);
    const all = await entries(page);
    assert.deepEqual(all.map((e) => [e.run, e.charged]), [[id, STEPS]]);
  }
  const end = await page.evaluate(async ([id, text]) => {
    const run = await clipscope.continue(id, { train: [new File([text], "table.csv")] });
    run.stop();
    const result = await run.done;
    return { steps: result.steps, lost: result.lost_steps, epsilon: result.epsilon, planned: run.plan.epsilon, notes: result.notes.length };
  }, [id, text]);
  t.diagnostic(`${KILLS} kills (${JSON.stringify(kinds)}): ${lost} of ${end.steps} steps were lost`);
  assert.ok(end.steps >= released && end.lost === lost && end.epsilon === end.planned && end.notes >= KILLS, JSON.stringify({ end, lost, released }));
  assert.deepEqual((await entries(page)).map((e) => [e.run, e.state, e.charged]), [[id, "closed", STEPS]]);
  assert.deepEqual(await list(page), []);
});

// browserOf is the process of the browser whose profile is in a folder.
/** @param {string} dir */
function browserOf(dir) {
  for (const pid of fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    let args;
    try {
      args = fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    } catch {
      continue; // it has ended
    }
    if (args.includes(`--user-data-dir=${dir}`) && !args.some((a) => a.startsWith("--type="))) return Number(pid);
  }
  throw new Error("the browser is not found");
}
