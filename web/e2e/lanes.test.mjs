// Runs side by side and the sweep: two lanes, one of them kept behind the next, a row as
// an experiment in Train; a guess, a sweep, and what the guess cost.
import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { eventually, results, stage } from "./browser.mjs";

const { visit } = await stage();

const screen = { width: 1280, height: 720 };
const quick = "data=moons&model.kind=softmax&method=constant&noise_multiplier=1&accountant=rdp&expected_batch_size=64&steps=10&learning_rate=0.5&max_grad_norm=1&seed=1";
const done = (page, n) => page.waitForFunction((n) => [...document.querySelectorAll("#lanes-table tbody td:nth-last-child(2)")].filter((e) => e.textContent === "done").length >= n, n);

test("lanes of a link run side by side, one is kept, and a row opens in Train", async (t) => {
  const page = await visit(t, "lab#lab.lanes=max_grad_norm=0.1,1&" + quick, { viewport: screen });
  await page.locator("#lanes-start").click();
  await done(page, 2);
  await eventually(async () => {
    assert.match(await page.locator("#lanes-spent").innerText(), /2 runs together would cost at most ε = \d+\.\d\d at δ/);
    const figures = await page.locator("#lanes-table tbody tr:first-child .figure").allInnerTexts();
    assert.match(figures[0], /^\d+(\.\d)? %$/);
    assert.equal(figures[3], "0.1");
  });
  await page.locator("[id='keep-0.1']").click();
  await page.locator("#vary-expected_batch_size").click();
  await page.locator("#lanes-table th", { hasText: "kept: 0.1" }).waitFor();
  await done(page, 5);
  await page.locator("#sort-accuracy").click();
  await page.locator("#lanes-table th[aria-sort=descending]").waitFor();
  await eventually(async () => {
    const sorted = (await page.locator("#lanes-table tbody .figure:nth-of-type(1)").allInnerTexts()).map(parseFloat);
    assert.deepEqual(sorted, [...sorted].sort((a, b) => b - a));
  });
  await page.locator("#lanes").scrollIntoViewIfNeeded();
  await page.screenshot({ path: path.join(results, "lanes-wide.png"), fullPage: true });
  await page.locator("[id='forget-kept: 0.1']").click();
  await page.locator("#lanes-table th", { hasText: "kept" }).waitFor({ state: "detached" });
  await page.locator("#lanes-table a", { hasText: "Open in Train" }).first().click();
  await page.locator("#act-start").waitFor();
  await eventually(async () => assert.match(await page.evaluate(() => location.hash), /expected_batch_size=\d+.*method=constant/));
  assert.deepEqual(page.errors, []);
});

test("a sweep is hidden until C is placed, and says what the guess cost", async (t) => {
  const page = await visit(t, "lab#" + quick.replace("noise_multiplier=1", "no_privacy=true"), { viewport: screen, colorScheme: "dark" });
  await page.locator("#sweep-predict").check();
  await page.locator("#sweep-start").click();
  await page.locator("#sweep-said", { hasText: "All runs are done" }).waitFor();
  assert.equal(await page.locator(".lab-swept").count(), 0);
  await page.focus("#sweep-guess");
  await page.keyboard.press("Home");
  await page.locator("#sweep-show").click();
  await eventually(async () => assert.match(await page.locator("#sweep-said").innerText(), /You chose C = 0\.01: .*best, at C = [\d.]+\. ε = ∞: best C = /s));
  await page.locator("#sweep > .values summary").click();
  await eventually(async () => {
    const unfolded = await page.evaluate(() => [...document.querySelectorAll("#sweep > .values > table, #sweep")].map((e) => e.getBoundingClientRect().bottom));
    assert.ok(unfolded[1] <= unfolded[0], `the values lie outside of the sweep: ${unfolded}`);
  });
  await page.locator("#sweep").scrollIntoViewIfNeeded();
  await page.screenshot({ path: path.join(results, "sweep-dark.png"), fullPage: true });
  assert.deepEqual(page.errors, []);
});
