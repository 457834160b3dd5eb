// The page opens where it was left: its settings, and how a table of the same columns was read.
// Of rows nothing is kept.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, narrow, open, stage, start } from "./browser.mjs";

const { visit, server } = await stage();

const stored = (/** @type {any} */ page) => page.evaluate(() => Object.fromEntries(Object.entries(localStorage).filter(([key]) => /left|readings/.test(key)).sort(([a], [b]) => a < b ? 1 : -1)));
const csv = (/** @type {string} */ name) => ({ name, mimeType: "text/csv", buffer: Buffer.from("width,colour,kind\n" + Array.from({ length: 200 }, (_, i) => `${7000 + i % 17},${["crimson", "teal"][i % 2]},${i % 3 ? "yes" : "no"}`).join("\n") + "\n") });
const line = (/** @type {any} */ page, /** @type {string} */ text) => page.locator("#card-data .card-line", { hasText: text }).waitFor();
// again is a next visit in the browser of page.
async function again(/** @type {any} */ page, hash = "") {
  const next = await open(page.context(), server.url + hash);
  await page.close();
  return next;
}

test("settings come back, and rows do not", async (t) => {
  let page = await visit(t, "");
  await line(page, "digits");
  assert.deepEqual(await stored(page), {}, "of a first visit");
  await page.setInputFiles("#files", csv("colours.csv"));
  await line(page, "colours.csv");
  await page.selectOption("#f-csv-label", "colour");
  await eventually(async () => assert.match(decodeURIComponent(new URL(page.url()).hash), /csv\.label=colour/));
  await eventually(async () => assert.match(JSON.stringify(await stored(page)), /readings.*label=colour.*colours\.csv/));
  const kept = JSON.stringify(await stored(page));
  for (const word of ["crimson", "teal", "width", "7001"]) assert.ok(!kept.includes(word), `${word} is kept: ${kept}`);

  // A link says what it says; what was left stays where it is.
  page = await again(page, "#data=moons&max_grad_norm=2");
  await line(page, "moons");
  assert.equal(await page.locator("#start-afresh").count(), 0);
  assert.equal(JSON.stringify(await stored(page)), kept);

  page = await again(page);
  await page.locator(".first", { hasText: "Choose colours.csv again to go on" }).waitFor();
  await eventually(async () => assert.match(await page.locator("#data-fault").innerText(), /Choose colours\.csv again to go on/));
  await page.setInputFiles("#files", csv("colours.csv"));
  await line(page, "colours.csv");
  await eventually(async () => assert.equal(await page.inputValue("#f-csv-label"), "colour"));
  await start(page);
  await page.locator("#result").waitFor();
  assert.equal(await page.locator("#start-afresh").count(), 0, "beside a run");
  assert.deepEqual(page.errors, []);

  page = await again(page);
  await page.click("#start-afresh");
  await line(page, "digits");
  assert.deepEqual(await stored(page), {});
  page = await again(page);
  await line(page, "digits");
  assert.equal(await page.locator("#start-afresh").count(), 0);
  assert.deepEqual(page.errors, []);
});

test("a table with the columns of an earlier one is read as that was", async (t) => {
  const page = await visit(t, "", { viewport: narrow });
  await page.click("#first-files");
  await page.setInputFiles("#files", csv("january.csv"));
  await line(page, "january.csv");
  await page.selectOption("#f-csv-label", "colour");
  await eventually(async () => assert.match(JSON.stringify(await stored(page)), /readings.*label=colour/));
  await page.setInputFiles("#files", csv("february.csv"));
  await line(page, "february.csv");
  await page.locator("#recalled:not([hidden])").waitFor();
  assert.equal(await page.inputValue("#f-csv-label"), "colour");
  await page.click("#read-as-new");
  await page.locator("#recalled").waitFor({ state: "hidden" });
  await line(page, "february.csv");
  await eventually(async () => assert.equal(await page.inputValue("#f-csv-label"), "kind"));
  assert.doesNotMatch(JSON.stringify(await stored(page)), /label=colour/);
  assert.deepEqual(page.errors, []);
});
