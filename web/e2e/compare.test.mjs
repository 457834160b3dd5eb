// Several settings, each several times, on one's own files, and the table of what they came to.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { eventually, leavable, narrow, results, stage, start } from "./browser.mjs";

const { visit: arrive } = await stage();

const settings = "#data=files&model.kind=softmax&method=constant&target_epsilon=1&expected_batch_size=40&learning_rate=0.5&steps=";

// drawn is a table of two classes of which one is rare.
const drawn = (rows = 300) => ({ name: "drawn.csv", mimeType: "text/csv", buffer: Buffer.from("width,height,kind\n" + Array.from({ length: rows }, (_, i) => `${i % 17},${i % 10 ? i % 5 : 9 + i % 3},${i % 10 ? "common" : "rare"}`).join("\n") + "\n") });

/** @param {any} t @param {number} steps @param {any} [options] */
async function visit(t, steps, options) {
  const page = await arrive(t, settings + steps, options);
  await page.setInputFiles("#files", drawn());
  await page.locator("#card-data .card-line", { hasText: "drawn.csv" }).waitFor({ state: "attached" });
  await page.locator("#act-start[aria-disabled=false]").waitFor();
  return page;
}

const text = (page, selector) => page.locator(selector).innerText();
const rows = (page) => page.locator("#results tbody tr").evaluateAll((all) => all.map((tr) => [...tr.children].map((td) => td.textContent)));
const heads = (page) => page.locator("#results thead th").evaluateAll((all) => all.map((th) => th.textContent));

async function saved(page, form) {
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#save-results-" + form)]);
  return { name: download.suggestedFilename(), text: fs.readFileSync(await download.path(), "utf8") };
}

// pictured is the page as it is seen, wide and narrow, light and dark.
async function pictured(page, name) {
  for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: path.join(results, `${name}-wide-${colorScheme}.png`) });
    await page.setViewportSize(narrow);
    await page.screenshot({ path: path.join(results, `${name}-narrow-${colorScheme}.png`), fullPage: true });
    await page.setViewportSize({ width: 1280, height: 800 });
  }
  await page.emulateMedia({ colorScheme: "light" });
}

test("two methods, two ε and two repeats are eight runs, and a table of four rows", async (t) => {
  const page = await visit(t, 20);
  let clicks = 0;
  const click = async (selector) => {
    clicks++;
    await page.click(selector);
  };
  await click("#card-compare .card-head");
  await click("#v-method-psac");
  await page.fill("#v-target_epsilon", "1; 4");
  await page.fill("#repeats", "2");
  // What it costs is said before: each run by itself, and all of them together with what was spent.
  await page.locator("#sweep-said-0", { hasText: "8 runs: 4 settings, 2 repeats of each." }).waitFor();
  await page.locator(".sweep-outlook", { hasText: "Each run costs ε = 1.00 to 4.00 by itself." }).waitFor();
  await page.locator(".sweep-cost", { hasText: /this data will have cost ε = [\d.]+ \(now 0\.00, δ = 1e−5\)/ }).waitFor();
  const together = Number((await text(page, ".sweep-cost")).match(/ε = ([\d.]+)/)[1]);
  assert.ok(together > 4 && together < 20, `${together}`); // more than one run, less than the sum
  await pictured(page, "compare-set");
  await click("#sweep-start");
  assert.equal(clicks, 3);
  await page.locator("#runs", { hasText: "Runs 8" }).waitFor();
  await page.locator("#sweep").waitFor({ state: "hidden" });

  await eventually(async () => assert.deepEqual((await rows(page)).map((r) => r.slice(0, 3)), [["Constant threshold", "2", "1.00"], ["Constant threshold", "2", "4.00"], ["Per-sample adaptive (DP-PSAC)", "2", "1.00"], ["Per-sample adaptive (DP-PSAC)", "2", "4.00"]]));
  assert.deepEqual(await heads(page), ["Method", "n", "ε of each run", "test accuracy", "test balanced accuracy", "test area under ROC", "time"]);
  for (const row of await rows(page)) assert.match(row[3], /^\d+\.\d ± \d+\.\d %$/);
  // The ledger has charged what was said.
  await page.click("#card-privacy .card-head");
  await eventually(async () => assert.ok(Math.abs(Number(await text(page, "#ledger-spent")) - together) < 0.02));
  assert.equal(await text(page, "#ledger-runs"), "8");
  await page.click("#card-compare .card-head");
  await pictured(page, "compare-ended");

  // Files have no score unless that is asked for, and then each run's.
  const plain = await saved(page, "csv");
  assert.equal(plain.name, "clipscope-results.csv");
  assert.ok(!plain.text.includes("accuracy") && plain.text.startsWith("configuration,repeat,method,"), plain.text);
  await page.check("#results-diagnostics");
  const csv = await saved(page, "csv"), lines = csv.text.trim().split("\n");
  assert.equal(csv.name, "clipscope-results-not-private.csv");
  assert.match(lines[0], /^# .*without noise/);
  assert.equal(lines.length, 2 + 8);
  const names = lines[1].split(","), of = (line, name) => line.split(",")[names.indexOf(name)];
  for (const [i, row] of (await rows(page)).entries()) {
    const mine = lines.slice(2).filter((line) => of(line, "configuration") === String(i + 1)).map((line) => 100 * Number(of(line, "diagnostic_test_accuracy")));
    const mean = (mine[0] + mine[1]) / 2, sd = Math.abs(mine[0] - mine[1]) / Math.SQRT2;
    const [m, s] = row[3].match(/[\d.]+/g).map(Number);
    assert.ok(Math.abs(m - mean) < 0.051 && Math.abs(s - sd) < 0.051, `${row[3]} of ${mine}`);
  }
  assert.match((await saved(page, "tex")).text, /\\begin\{tabular\}\{lrrrrrr\}/);
  assert.match((await saved(page, "md")).text, /\| Constant threshold \| 2 \| 1\.00 \| /);

  // Sorted by a column, and after a reload from what is kept.
  await page.click("#results thead button:has-text('ε of each run')");
  await eventually(async () => assert.deepEqual((await rows(page)).map((r) => r[2]), ["1.00", "1.00", "4.00", "4.00"]));
  await leavable(page);
  await page.reload();
  await page.locator("#runs", { hasText: "Runs 8" }).waitFor();
  await page.click("#results-toggle");
  await eventually(async () => assert.deepEqual((await rows(page)).map((r) => r[1]), ["2", "2", "2", "2"]));
  assert.deepEqual(page.errors, []);
});

test("several runs are stopped in the middle, and a setting that cannot run is left out", async (t) => {
  const page = await visit(t, 20000);
  await page.click("#card-compare .card-head");
  await page.selectOption("#vary", "learning_rate");
  await page.fill("#repeats", "2");
  await page.selectOption("#vary", "expected_batch_size");
  await page.fill("#v-expected_batch_size", "40; 5000");
  await page.locator(".sweep-outlook", { hasText: "Left out: expected_batch_size 5000." }).waitFor();
  await page.locator("#sweep-start", { hasText: "Start 2 runs" }).waitFor();
  await page.click("#drop-expected_batch_size");
  await page.fill("#v-learning_rate", "0.1; what");
  await page.locator("#sweep-fault", { hasText: "“what” is not a number" }).waitFor();
  assert.ok(await page.locator("#sweep-start").isDisabled());
  await page.fill("#v-learning_rate", "0.1; 0.5");
  await page.click("#sweep-start:not([disabled])");
  await page.locator("#sweep-progress", { hasText: "Run 1 of 4 (learning_rate 0.1)" }).waitFor();
  await page.locator("#sweep-progress", { hasText: "Run 2 of 4 (learning_rate 0.5)" }).waitFor();
  await eventually(async () => assert.match(await text(page, ".steps"), /step [1-9]/));
  await page.click("#sweep-stop");
  await page.locator("#sweep-progress", { hasText: "2 runs of 4 have ended, 1 of them early. Stopped." }).waitFor();
  await page.locator("#sweep-failed", { hasText: /^learning_rate 0\.5: stopped after step [\d,]+ of 20,000$/ }).waitFor();
  // A run that was stopped is kept and charged, and in no mean.
  await eventually(async () => assert.deepEqual((await rows(page)).map((r) => r.slice(0, 2)), [["0.1", "1"], ["0.5", "0 of 1"]]));
  assert.ok(await page.locator("#act-start[aria-disabled=false]").isVisible());
  await start(page); // one run as ever
  await page.locator("#runs", { hasText: "Runs 3" }).waitFor();
  assert.deepEqual(page.errors, []);
});
