// Runs that have ended: they stay until they are deleted, and say what made them.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { eventually, leavable, narrow, open, percent, ready, results, stage, start } from "./browser.mjs";

const { server, visit: arrive, alone } = await stage();

const short = "#data=digits&model.kind=softmax&method=constant&noise_multiplier=1&expected_batch_size=256&steps=60&learning_rate=0.5";
const long = "#data=digits&model.kind=softmax&method=constant&noise_multiplier=4&expected_batch_size=64&steps=200000&learning_rate=0.1";
const table = (rows) => ({ name: "table.csv", mimeType: "text/csv", buffer: Buffer.from("width,height,kind\n" + Array.from({ length: rows }, (_, i) => `${i % 17},${i % 5 + (i % 2) * 4},${i % 2 ? "yes" : "no"}`).join("\n") + "\n") });

async function settled(page) {
  await page.locator("#card-data .card-line", { hasText: "×" }).waitFor({ state: "attached" });
  await page.locator(".figures").first().waitFor({ state: "attached" });
}

/** @param {any} t @param {string} hash @param {any} [options] */
async function visit(t, hash, options) {
  const page = await arrive(t, hash, options);
  await settled(page);
  return page;
}

const result = (page) => page.locator("#result");
const text = (page, selector) => page.locator(selector).innerText();
const says = (page, selector, want) => eventually(async () => assert.match(await text(page, selector), want));
const shows = (page, before, what) => eventually(async () => assert.deepEqual(await whole(page), before, what));
const runs = (page, n) => page.locator("#runs", { hasText: n ? `Runs ${n}` : /Runs \d/ }).waitFor();
const stepsReach = (page, n) => page.waitForFunction((n) => Number(document.querySelector(".steps")?.textContent.match(/step ([\d,]+)/)?.[1].replaceAll(",", "")) >= n, n);
// goesOn waits for so many more steps than there are now.
const goesOn = async (page, n) => stepsReach(page, n + Number((await text(page, ".steps")).match(/step ([\d,]+)/)[1].replaceAll(",", "")));
const hash = (page, value) => page.evaluate((value) => { location.hash = value; }, value);

async function finish(page) {
  await start(page);
  await result(page).waitFor();
  await runs(page);
}

async function saved(page, button) {
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#save-" + button)]);
  return fs.readFileSync(await download.path(), "utf8");
}

// whole is all that there is to see and to save of the run that is shown.
async function whole(page) {
  const files = [];
  for (const button of ["json", "csv", "model-json"]) files.push(await saved(page, button));
  await page.check("#with-diagnostics");
  files.push(await saved(page, "csv"));
  await page.uncheck("#with-diagnostics");
  const ink = await page.locator(".panel canvas").evaluateAll((all) => all.map((c) => c.getContext("2d").getImageData(0, 0, c.width, c.height).data.reduce((n, v, i) => n + (i % 4 === 3 && v > 100 ? 1 : 0), 0)));
  return { made: await text(page, "#made"), result: await text(page, "#result"), files, drawn: ink.map((n) => n > 200), said: await page.locator(".panel .sentence").allInnerTexts(), bar: await text(page, ".runbar .progress") };
}

// ended is whole once the charts show the end.
const ended = (page) => eventually(async () => {
  const all = await whole(page);
  assert.match(all.made, /^Run of .* finished\. /);
  assert.ok(all.drawn.every(Boolean), `${all.drawn}`);
  return all;
});

const leave = (page) => page.evaluate(() => { location.href = "/help"; });

// leaveAsks has the page ask whether to leave it, and stays.
async function leaveAsks(page) {
  const asked = page.waitForEvent("dialog"), left = leave(page); // which a dialog holds back
  const dialog = await asked;
  assert.equal(dialog.type(), "beforeunload");
  await dialog.dismiss();
  await left;
}

async function openFirst(page) {
  await page.click("#runs");
  await page.locator(".run-open").first().click();
  await result(page).waitFor();
}

test("a run that has ended outlives Restart, Reset, a preset, a link and a reload, and opens as it ended", async (t) => {
  const page = await visit(t, short, { serviceWorkers: "allow" });
  await finish(page);
  await runs(page, 1);
  const before = await ended(page);
  assert.match(before.made, /^Run of \d\d:\d\d:\d\d, finished\. digits, 6,000 × 784.* softmax, 7,850 parameters .* Constant threshold, C\s1 .* ε\s2\.46, δ\s1e−5, σ\s1, 60 steps .* batches of 256.* SGD, η\s0\.5 .* cryptographic randomness \(CSPRNG\)$/);
  assert.ok(JSON.parse(before.files[2]).parameters.length === 7850);
  const again = async (what) => {
    await openFirst(page);
    await shows(page, before, what);
  };
  await page.click("#act-reset");
  await result(page).waitFor({ state: "detached" });
  await again("after Reset");
  await page.selectOption("#experiment-first", { index: 2 });
  await page.locator("#changed:not([hidden])").waitFor();
  await hash(page, short.replace("0.5", "0.25"));
  await page.locator("#changed", { hasText: "Not as in this run: Optimiser. These settings are for the next run." }).waitFor();
  await shows(page, before, "beside a preset");
  await start(page);
  await runs(page, 2);
  await says(page, "#made", /η\s0\.25/);
  await leavable(page);
  await page.reload();
  await ready(page);
  await settled(page);
  await runs(page, 2);
  await page.click("#runs");
  await page.locator(".run-open").nth(1).click();
  await result(page).waitFor();
  await shows(page, before, "after a reload");

  // The two are drawn one over the other, with what they differ in.
  await page.click("#runs");
  for (const i of [0, 1]) await page.locator(".run-compare").nth(i).click();
  await page.locator("#compared canvas").nth(2).waitFor();
  await eventually(async () => {
    assert.deepEqual(await page.locator(".compared li").allInnerTexts().then((all) => all.map((s) => s.replace(/ · test accuracy [\d.]+ %/, "").replaceAll("\u00a0", " "))),
      ["○ 1: constant · SGD, η 0.25 · finished", "□ 2: constant · SGD, η 0.5 · finished"]);
    assert.deepEqual(await page.locator("#compared h3").allInnerTexts(), ["Test accuracy", "Threshold C", "Clipped share"]);
  });
  await page.locator(".run-compare").nth(1).click();
  await page.locator("#compared", { hasText: "Choose another run" }).waitFor();
  assert.deepEqual(page.errors, []);
});

test("“Do not run” leaves the result where it is", async (t) => {
  const page = await visit(t, "#model.kind=softmax&method=constant&noise_multiplier=1&expected_batch_size=40&steps=30&learning_rate=0.1&scaling.kind=declared&scaling.lo=0&scaling.hi=20");
  await page.setInputFiles("#files", table(400));
  await page.locator("#card-data .card-line", { hasText: "table.csv" }).waitFor({ state: "attached" });
  await page.evaluate(() => clipscope.ledger.limit({ epsilon: 1e6 }));
  await finish(page);
  const before = await text(page, "#result");
  await page.evaluate(() => clipscope.ledger.limit({ epsilon: 0.1 }));
  await start(page);
  await page.locator("#ledger-ask").waitFor();
  assert.equal(await text(page, "#result"), before, "the question takes it away");
  await page.click("#ask-no");
  await page.locator("#ledger-ask").waitFor({ state: "detached" });
  await eventually(async () => assert.deepEqual([await text(page, "#result"), await text(page, "#act-start")], [before, "New run"]));
  assert.deepEqual(page.errors, []);
});

test("other data in mid-run is for the next one, whichever way it comes", async (t) => {
  const page = await visit(t, long);
  await start(page);
  await stepsReach(page, 20);
  const made = await text(page, "#made");
  const stays = async (what, line) => {
    await page.locator("#card-data .card-line", { hasText: line }).waitFor({ state: "attached" });
    await goesOn(page, 50);
    await page.locator("#changed", { hasText: /^Not as in this run: Data.*for the next run/ }).waitFor(); // once it is read
    assert.equal(await text(page, "#made"), made, what);
    await says(page, "#card-data .card-head", /next run/);
    assert.ok(await page.locator("#run-fault").isHidden(), what);
  };
  await page.selectOption("#f-data", "moons", { force: true });
  await stays("another set", "moons");
  await page.setInputFiles("#files", table(300));
  await stays("a file", "table.csv");
  await hash(page, "#data=regression-vc&model.kind=linear&steps=9");
  await stays("a link", "regression-vc");
  assert.ok(await page.locator("#panel-learning h2", { hasText: "Accuracy" }).count(), "the chart goes with the data of the run");
  await page.screenshot({ path: path.join(results, "other-data-wide-light.png") });
  await page.selectOption("#experiment-first", { label: "Two moons, in the plane" });
  await stays("a preset", "moons");
  await page.click("#act-stop");
  await result(page).waitFor();
  await says(page, "#made", /^Run of .*stopped after step [\d,]+ of 200,000\. digits/);
  await says(page, ".left", /^stopped$/);
  assert.equal((await saved(page, "json")).includes('"data": "digits"'), true);
  // And the next run is on the data that was chosen.
  await page.click("#act-reset");
  await start(page);
  await page.locator("#made", { hasText: /finished\. moons/ }).waitFor();
  assert.deepEqual(page.errors, []);
});

test("a script's run goes on when its data is closed, and then its worker ends", async (t) => {
  const page = await visit(t, short);
  const r = await page.evaluate(async () => {
    const data = await clipscope.open("moons");
    const run = await clipscope.train({ data: "moons", method: "constant", noise_multiplier: 100, expected_batch_size: 8, steps: 100_000 }, data);
    data.close();
    const refused = await clipscope.train({ data: "moons" }, data).then(() => null, (e) => e.message);
    await new Promise((resolve) => { const off = run.on((e) => { if (e.step > 50) { off(); resolve(undefined); } }); });
    run.stop();
    const { steps, stopped } = await run.done;
    const memory = await run.memory().then(() => null, (e) => e.message);
    return { refused, steps, stopped, memory };
  });
  assert.match(r.refused, /was closed/);
  assert.ok(r.stopped && r.steps > 50);
  assert.match(r.memory, /was closed/, "the worker lives on");
});

test("the bounds that a run has bought are the next one's for nothing", async (t) => {
  const page = await arrive(t, "#data=files&model.kind=softmax&target_epsilon=8&expected_batch_size=200&steps=30");
  await page.setInputFiles("#files", table(2000));
  await settled(page);
  await finish(page);
  const bought = JSON.parse(await saved(page, "json")).released.bounds;
  assert.deepEqual(Object.keys(bought).sort(), ["height", "width"]);
  await page.click("#take-bounds");
  await eventually(async () => assert.ok(await page.evaluate(() => location.hash.includes("csv.bounds.width.hi=")), "the address has them"));
  await page.locator("#take-bounds").waitFor({ state: "hidden" });
  await says(page, "#changed", /^Not as in this run: Data\./);
  await finish(page);
  await runs(page, 2);
  await eventually(async () => assert.equal(JSON.parse(await saved(page, "json")).released.bounds, undefined, "none are bought again"));
  assert.deepEqual(page.errors, []);
});

test("while a run goes on another can be looked at", async (t) => {
  const page = await visit(t, short);
  await finish(page);
  await hash(page, long);
  await page.locator("#changed:not([hidden])").waitFor();
  await start(page);
  await result(page).waitFor({ state: "detached" }); // it stands until the next run has begun
  await stepsReach(page, 20);
  await page.locator("#act-reset[aria-disabled=true]").waitFor(); // it would end what costs ε
  await openFirst(page);
  await says(page, "#made", /finished\. .*C\s1 .* 60 steps/);
  await stepsReach(page, 100);
  await page.click("#runs-back");
  await result(page).waitFor({ state: "detached" });
  await says(page, "#made", /^Run in progress/);
  await page.click("#act-stop");
  await result(page).waitFor();
  await runs(page, 2);
  assert.deepEqual(page.errors, []);
});

test("leaving asks while a run goes on, and not when it is stored", async (t) => {
  const page = await visit(t, long);
  await start(page);
  await stepsReach(page, 5);
  await leaveAsks(page);
  await goesOn(page, 10);
  await page.click("#act-stop");
  await runs(page, 1);
  await leavable(page);
  page.on("dialog", (d) => d.dismiss()); // which would keep the page
  await leave(page);
  await page.locator("h1", { hasText: "Reading a private run" }).waitFor();
});

for (const [name, said, prepare] of /** @type {[string, string, (page: any) => Promise<any>][]} */ ([
  ["blocked", "the browser refuses it", (page) => page.addInitScript(() => { indexedDB.open = () => { throw new DOMException("", "SecurityError"); }; })],
  ["full", "it is full", async (page) => (await page.context().newCDPSession(page)).send("Storage.overrideQuotaForOrigin", { origin: new URL(server.url).origin, quotaSize: 1000 })],
])) {
  test(`where storage is ${name} the page says so, and the run stays in memory`, async (t) => {
    const page = await visit(t, short);
    await prepare(page);
    await page.reload();
    await ready(page);
    await settled(page);
    await finish(page);
    await page.locator("#runs-fault", { hasText: said }).waitFor();
    const before = await ended(page);
    await page.click("#act-reset");
    await result(page).waitFor({ state: "detached" });
    await page.click("#runs");
    await says(page, "#runs-list", /1 is in memory alone, and gone when this page is closed/);
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: path.join(results, `runs-${name}-wide-${colorScheme}.png`) });
    }
    await page.locator(".run-open").click();
    await shows(page, before);
    await leaveAsks(page);
    assert.deepEqual(page.errors, []);
  });
}

test("the list says what it holds, follows other tabs, and deletes when asked twice", async (t) => {
  const context = await alone(t);
  const page = await open(context, server.url + short);
  await settled(page);
  await finish(page);
  await runs(page, 1);
  const other = await open(context, server.url + short);
  await runs(other, 1);
  await other.click("#runs");
  await says(other, "#runs-list", /in this browser, on this device only, until you delete them: 1 run, [\d.]+ kB/);
  await says(other, "#runs-list", /diagnostic values as well/);
  await says(other, "#runs-list", /\d\d:\d\d:\d\d\s+Constant threshold on digits, 6,000 × 784, 10 classes\s+ε 2\.46\s+test accuracy [\d.]+ %\s+finished\s+[\d.]+ kB/);
  await other.click(".run-remove");
  await other.locator(".run-open").waitFor({ state: "detached" });
  await other.screenshot({ path: path.join(results, "runs-sure-wide-light.png") });
  const focused = (/** @type {string} */ id) => other.waitForFunction((id) => document.activeElement?.id === id, id);
  await focused("run-keep");
  await eventually(async () => {
    const [question, keep] = [await other.locator(".run-sure").boundingBox(), await other.locator("#run-keep").boundingBox()];
    assert.ok(keep.x + keep.width <= question.x + question.width, "a button of the question is cut off");
  });
  for (const no of ["Enter", "Escape"]) {
    await other.keyboard.press(no);
    await other.locator(".run-open").waitFor();
    await focused("runs");
    await other.click(".run-remove");
    await focused("run-keep");
  }
  await other.click("#run-delete");
  await other.locator("#caption").waitFor({ state: "hidden" });
  await page.locator("#runs").waitFor({ state: "hidden" });
  assert.ok(await result(page).isVisible(), "what is shown elsewhere stays there");
  await page.setViewportSize(narrow);
  await eventually(async () => assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390));
  assert.deepEqual([...page.errors, ...other.errors], []);
});

test("after the end there is one figure of the test rows", async (t) => {
  const page = await visit(t, "#model.kind=softmax&method=constant&noise_multiplier=1&expected_batch_size=100&steps=40&learning_rate=0.1&scaling.kind=declared&scaling.lo=0&scaling.hi=20");
  await page.setInputFiles("#files", table(20_000)); // of which 4,000 are tested
  await page.locator("#card-data .card-line", { hasText: "table.csv" }).waitFor({ state: "attached" });
  await finish(page);
  await page.click("#panel-learning .values summary");
  const figure = (await text(page, "#result .result-figures")).match(/test accuracy\s+([\d.]+ %)/)[1];
  await says(page, "#panel-learning .sentence", new RegExp(`^${figure} of 4,000 test rows`));
  await says(page, "#panel-learning table", new RegExp(`test accuracy\\s+${figure}`));
  await page.check("#with-diagnostics");
  const json = JSON.parse(await saved(page, "json"));
  assert.deepEqual([percent(json.diagnostic.test_accuracy), json.diagnostic.test_rows, json.series.diagnostic_test_accuracy.at(-1)], [figure, 4000, json.diagnostic.test_accuracy]);
  const csv = await saved(page, "csv"), [head, ...rows] = csv.trim().split("\n").map((l) => l.split(","));
  assert.equal(rows.at(-1)[head.indexOf("diagnostic_test_accuracy")], String(json.diagnostic.test_accuracy));
  assert.equal(rows.length, 40);
  const r = await page.evaluate(async () => {
    const run = await clipscope.train({ data: "digits", method: "constant", noise_multiplier: 1, steps: 40 });
    const tested = [];
    run.on((e) => { if (e.diagnostic.eval) tested.push(e.step); });
    const { test_rows } = await run.done;
    return { test_rows, tested };
  });
  assert.equal(r.test_rows, 1000);
  assert.ok(r.tested.length >= 5 && !r.tested.includes(40), `the last step has a figure of its own: ${r.tested}`);
});

test("an export of some of the steps says so at its top", async (t) => {
  const page = await visit(t, "#data=moons&model.kind=softmax&method=constant&noise_multiplier=50&expected_batch_size=2&steps=40000&learning_rate=0.01");
  await finish(page);
  const csv = (await saved(page, "csv")).trim().split("\n"), json = JSON.parse(await saved(page, "json"));
  const rows = csv.filter((l) => /^\d/.test(l));
  assert.ok(rows.length < 40_000, "the run was too slow to be thinned");
  assert.match(csv[0], new RegExp(`^# ${rows.length} of 40000 steps: .*faster than a page can take them`));
  assert.match(csv[1], /^step,/);
  assert.match(rows.at(-1), /^40000,/);
  assert.match(json.series_note, new RegExp(`^${rows.length} of 40000 steps`));
  assert.equal(json.released.max_grad_norm.length, 40_000);
});

test("what was measured at single steps is not joined by lines", async (t) => {
  const page = await visit(t, short);
  const ink = (points) => page.evaluate(async (points) => {
    const box = document.createElement("div");
    Object.assign(box.style, { position: "fixed", inset: "0", width: "600px", height: "300px" });
    document.body.append(box);
    const spec = { kind: "lines", x: { label: "step" }, y: {}, series: [{ label: "", ink: "diagnostic", width: 2, points }] };
    const chart = clipscopePage.ui.chart(box, JSON.stringify(spec));
    const numbers = new Float64Array([2, 2, 100, NaN, 0, 0, 100, 0.2, 0.8]);
    chart.room(numbers.length).set(new Uint8Array(numbers.buffer));
    chart.draw(numbers.length);
    const pixels = (x, w) => {
      const canvas = box.querySelector("canvas");
      return canvas?.width ? canvas.getContext("2d").getImageData(x * canvas.width, 0, Math.round(w * canvas.width), canvas.height).data : [];
    };
    while (!pixels(0, 1).some(Boolean)) await new Promise(requestAnimationFrame); // it is drawn at once, with its axes
    const data = pixels(1 / 3, 1 / 3);
    let n = 0;
    for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 100 && data[i] > data[i + 2] + 60) n++;
    chart.destroy();
    box.remove();
    return n;
  }, points);
  assert.ok(await ink(false) > 100, "a line cannot be seen");
  assert.equal(await ink(true), 0);
});
