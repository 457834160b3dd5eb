// The page under attack: hostile files, configurations, questions and links, drawn
// from a seed. Nothing may end the page or a worker but what is asked to, and all
// that is refused is refused in a few words.
//
//	CLIPSCOPE_TRIALS=1 node --test web/e2e/hostile.test.mjs
//
// makes 100 choices of files, 2,000 calls and 500 links of it, and reads the great
// bombs to their end; CLIPSCOPE_SEED takes others.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, ready, stage } from "./browser.mjs";
import { missing, sharedFirefox } from "./firefox.mjs";
import { callOf, filesOf, hashOf, random, zeros } from "./trials.mjs";

const whole = !!process.env.CLIPSCOPE_TRIALS;
const seed = Number(process.env.CLIPSCOPE_SEED ?? 1);
const { server, visit } = await stage();

const firefox = sharedFirefox({});
async function visitFirefox(t) {
  const page = await (await firefox()).page(server.url, t);
  await ready(page);
  return page;
}

// inBoth tests in both browsers.
/** @param {string} name @param {(t: any, page: any) => Promise<void>} run */
function inBoth(name, run) {
  test(`${name}, Chromium`, async (t) => run(t, await visit(t, "")));
  test(`${name}, Firefox`, { skip: missing }, async (t) => run(t, await visitFirefox(t)));
}

// What was the page's or a worker's end, whatever else it says.
const ended = /ended unexpectedly|in a way it should not|could not run|answers nothing|out of memory/;

// sound holds what a call came to: an answer, or a few words of ours.
/** @param {{ error?: string, name?: string, ms: number }} outcome @param {string} what */
function sound({ error, name }, what) {
  if (error === undefined) return;
  assert.equal(name, "ClipscopeError", `${what}: ${name}: ${error}`);
  assert.doesNotMatch(error, ended, what);
  assert.ok(error.length >= 10 && error.length <= 1100, `${what}: ${error.length} characters: ${error.slice(0, 300)}`);
}

// answers holds that page and calculator are there.
/** @param {any} page */
async function answers(page) {
  const epsilon = await page.evaluate(() => clipscope.epsilon({ noise_multiplier: 1, sample_rate: 0.01, steps: 10, target_delta: 1e-5 }));
  assert.ok(epsilon > 0.2 && epsilon < 0.4, `ε = ${epsilon}`);
  assert.deepEqual(page.errors, []);
}

// tally counts outcomes for the report, and finds the slowest.
function tally() {
  const counts = { answered: 0, refused: 0 };
  let slowest = { ms: 0, what: "" };
  return {
    /** @param {{ error?: string, ms: number }} o @param {string} what */
    add(o, what) {
      counts[o.error === undefined ? "answered" : "refused"]++;
      if (o.ms > slowest.ms) slowest = { ms: o.ms, what };
    },
    said: () => `${counts.answered} answered, ${counts.refused} refused; the slowest took ${(slowest.ms / 1000).toFixed(1)} s: ${slowest.what.slice(0, 300)}`,
  };
}

// brief is a call as a failure names it.
const brief = (/** @type {any} */ v) => JSON.stringify(v, (_, x) => typeof x === "number" ? String(x) : x).replace(/(.)\1{40,}/g, "$1…").slice(0, 500);

inBoth("hostile calls are answered or refused", async (t, page) => {
  const r = random(seed), seen = tally();
  for (let n = whole ? 2000 : 40; n > 0; n--) {
    const c = callOf(r);
    const outcome = await page.evaluate(async ({ call, args }) => {
      const from = performance.now();
      try {
        const run = await clipscope[call](...args);
        if (call === "train") await run.done;
        return { ms: performance.now() - from };
      } catch (e) {
        return { ms: performance.now() - from, name: e.name, error: e.message };
      }
    }, c);
    sound(outcome, `${c.call} ${brief(c.args)}`);
    seen.add(outcome, `${c.call} ${brief(c.args)}`);
  }
  await answers(page);
  t.diagnostic(seen.said());
});

// opened opens files through a field of the test's own, and trains a step on what is read.
/** @param {any} page @param {{ files: any[], csv?: object }} choice */
async function opened(page, { files, csv }) {
  await page.setInputFiles("#hostile", files);
  return page.evaluate(async (csv) => {
    const from = performance.now();
    const input = /** @type {HTMLInputElement} */ (document.getElementById("hostile"));
    try {
      const data = await clipscope.open({ train: [...input.files ?? []] }, csv);
      const { rows, warnings, task } = data.summary;
      const model = { kind: task === "regression" ? "linear" : "softmax" };
      const config = { model, no_privacy: true, method: "none", expected_batch_size: Math.min(rows, 8), steps: 1, learning_rate: 1e-3 };
      const run = await clipscope.train(config, data, { anyway: true });
      await run.done;
      data.close();
      return { ms: performance.now() - from, warnings };
    } catch (e) {
      return { ms: performance.now() - from, name: e.name, error: e.message };
    }
  }, csv ?? {});
}

/** @param {any} page */
const field = (page) => page.evaluate(() => {
  const input = Object.assign(document.createElement("input"), { type: "file", id: "hostile", multiple: true });
  document.body.append(input);
});

inBoth("hostile files are read or refused", async (t, page) => {
  const r = random(seed + 1), seen = tally();
  await field(page);
  for (let i = 0; i < (whole ? 100 : 25); i++) {
    const choice = filesOf(r, i), what = `${i}: ${brief(choice.files.map((f) => [f.name, f.buffer.length]))} ${brief(choice.csv)}`;
    const outcome = await opened(page, choice);
    sound(outcome, what);
    for (const w of outcome.warnings ?? []) assert.ok(w.length <= 1100, `${what}: a warning of ${w.length} characters`);
    seen.add(outcome, what);
  }
  await answers(page);
  t.diagnostic(seen.said());
});

// hashed sets the address's hash, and returns after the task in which the page hears of it.
/** @param {any} page @param {string} hash */
const hashed = (page, hash) => page.evaluate(async (h) => {
  location.hash = h;
  await new Promise((resolve) => { setTimeout(resolve); });
}, hash);

inBoth("hostile links are read or dropped", async (t, page) => {
  const r = random(seed + 2), paths = ["", "calculator", "help"];
  await page.waitForFunction(() => document.querySelector("#act-start"));
  for (let i = 0; i < (whole ? 500 : 16); i++) {
    const hash = hashOf(r);
    if (i % 8 === 7) {
      await page.goto("about:blank");
      await page.goto(server.url + paths[i % paths.length] + "#" + hash);
      await ready(page);
      await page.waitForFunction(() => document.querySelector("main"));
    } else {
      await hashed(page, hash);
    }
    assert.deepEqual(page.errors, [], `#${brief(hash)}`);
    const shown = await page.evaluate(() => document.body.innerText.length);
    assert.ok(shown < 30_000, `${shown} characters are on the page after #${brief(hash)}`);
  }
  // The page still listens.
  await page.goto("about:blank");
  await page.goto(server.url);
  await ready(page);
  for (const c of [3, 7]) {
    await page.evaluate((c) => { location.hash = `#data=moons&max_grad_norm=${c}`; }, c);
    await page.waitForFunction((c) => /** @type {HTMLInputElement} */ (document.querySelector("#f-max_grad_norm"))?.value === String(c), c);
  }
  await answers(page);
});

// Next to no noise and many steps: what the planner took a minute or all memory for.
test("small noise and tiny δ are planned like any other", async (t) => {
  const page = await visit(t, "#data=moons&noise_multiplier=0.001");
  await page.locator(".figures dd").first().waitFor({ state: "attached" });
  for (const [field, value, more] of [["noise_multiplier", "0.0001", "&method=quantile"], ["noise_multiplier", "1e-300", ""], ["target_delta", "1e-14", ""], ["target_epsilon", "1e300", "&steps=100000000"]]) {
    await page.evaluate((h) => { location.hash = h; }, `data=moons&${field}=${value}${more}`);
    // The fields and what says that the plan is another's come together.
    await page.waitForFunction(([field, value]) => Number(/** @type {HTMLInputElement} */ (document.querySelector(`#f-${field}`))?.value) === Number(value) &&
      !document.querySelector("#card-privacy .stale") && !/Calculating/.test(document.querySelector("#card-privacy")?.textContent ?? ""), [field, value]);
  }
  // The end of float noise takes more than so small a δ.
  await page.evaluate(() => { location.hash = "data=moons&target_delta=5e-324"; });
  await page.locator("#f-target_delta-fault", { hasText: "cannot be promised" }).waitFor({ state: "attached" }); // its field is folded away
  await answers(page);
});

// What a few megabytes may claim to be, or grow to.
test("bombs are refused, or can be stopped", async (t) => {
  const page = await visit(t, "");
  await field(page);
  const ten = whole ? 10_240 : 1024; // MB
  const stopped = async (files) => {
    await page.setInputFiles("#hostile", files);
    return page.evaluate(async () => {
      const input = /** @type {HTMLInputElement} */ (document.getElementById("hostile")), stop = new AbortController();
      const told = [];
      try {
        await clipscope.open({ train: [...input.files ?? []] }, {}, (p) => { told.push(p.phase); if (told.length === 3) stop.abort(); }, stop.signal);
        return { told, error: "" };
      } catch (e) {
        return { told, error: e.name };
      }
    });
  };
  const pixels = { name: "cifar.gz", mimeType: "", buffer: zeros(ten) }, rows = { name: "t.csv.gz", mimeType: "", buffer: zeros(ten, "1,0\n") };
  for (const f of [pixels, rows]) assert.deepEqual(await stopped([f]), { told: ["scan", "scan", "scan"], error: "AbortError" });
  if (whole) {
    for (const f of [pixels, rows]) {
      const outcome = await opened(page, { files: [f] });
      assert.match(outcome.error ?? "", /at most 1024 MB of data/);
      t.diagnostic(`${f.name}, ${f.buffer.length} bytes: refused after ${(outcome.ms / 1000).toFixed(1)} s`);
    }
  }
  await answers(page);
});

// Twenty thousand of anything are a few lines on the page.
test("a table's oddities are a few lines, however many they are", async (t) => {
  const csv = (/** @type {string} */ name, /** @type {string[]} */ lines) => ({ name, mimeType: "", buffer: Buffer.from(lines.join("\n") + "\n") });
  const many = 20_000, rows = Array.from({ length: 60 }, (_, i) => i), long = "name ".repeat(20_000), column = long.slice(0, 10_000);
  for (const [what, files, said] of /** @type {[string, any[], RegExp][]} */ ([
    ["empty columns", [csv("wide.csv", rows.map((i) => `${i / 3},${",".repeat(many - 3)}${i % 2}`))], /And 19,?\d{3} more like/],
    ["unseen categories", [csv("a.csv", ["c,label", ...rows.map((i) => `c${i % 9},${i % 2}`)]), csv("test.csv", ["c,label", ...Array.from({ length: many }, (_, i) => `new ${i},${i % 2}`)])], /as do 20000 cells/],
    ["long names", [csv(`${long}.csv`, [`${column},${column}2,label`, ...rows.map((i) => `${i / 3},${"abcdefg"[i % 7]},${i % 2}`)])], /./],
  ])) {
    const page = await visit(t, "#data=moons");
    await page.locator("#card-data .card-line", { hasText: "moons" }).waitFor({ state: "attached" });
    await page.setInputFiles("#files", files);
    const line = page.locator("#card-data .card-line", { hasText: /\d ×.*2 classes$/ }).filter({ hasNotText: "moons" });
    await line.waitFor({ state: "attached" });
    await eventually(async () => {
      const notes = await page.locator("#card-data .note, #table .note").allTextContents();
      assert.match(notes.join("\n"), said, what);
      assert.ok(notes.length <= 12, `${what}: ${notes.length} notes`);
      const { elements, characters } = await page.locator("#table").evaluate((e) => ({ elements: e.querySelectorAll("*").length, characters: e.textContent?.length ?? 0 }));
      assert.ok(elements < 6000 && characters < 40_000, `${what}: ${elements} elements, ${characters} characters`);
    });
    assert.deepEqual(page.errors, []);
  }
});
