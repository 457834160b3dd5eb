// What only the owner of a table can settle stands above the choices that settle it, and is to be
// read before a run.
import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { eventually, results, stage } from "./browser.mjs";

const { visit } = await stage();

test("a table's doubts are said before the run, and go with the choice that settles them", async (t) => {
  const page = await visit(t, "");
  const rows = Array.from({ length: 200 }, (_, i) => `${1 + i % 3},${20 + i % 41},Seen by Dr. ${String.fromCharCode(97 + i % 26, 97 + i / 26)},${["First", "Second", "Third"][i % 3]}`);
  await page.setInputFiles("#files", { name: "cabins.csv", mimeType: "text/csv", buffer: Buffer.from(`pclass,age,note,class\n${rows.join("\n")}\n`) });
  const doubts = async () => (await page.locator("#data-doubts .warning:visible").allInnerTexts()).join("\n");
  await eventually(async () => {
    assert.match(await doubts(), /note is ignored: 200 of its 200 different texts stand in one row alone/);
    assert.match(await doubts(), /pclass nearly equals the label class: 100\.0 %/);
    assert.equal(await page.locator("#run-warned:visible").innerText(), "There is a warning to read before the run: see Data.");
  });
  await page.screenshot({ path: path.join(results, "doubts-wide-light.png") });
  // The choices: the column's kind, and the label.
  await page.selectOption('#table [aria-label="Kind of column pclass"]', "ignored");
  await page.selectOption('#table [aria-label="Kind of column note"]', "bucketed");
  await eventually(async () => {
    assert.equal(await doubts(), "");
    assert.equal(await page.locator("#run-warned:visible").count(), 0);
  });
  // Whether the label names classes is chosen beside it.
  await page.selectOption("#f-csv-label", "age");
  await eventually(async () => assert.match(await doubts(), /age has 41 different whole numbers and is read as an amount to be learned\. Choose classification/));
  await page.selectOption("#f-csv-task", "classification");
  await eventually(async () => {
    assert.match(await page.locator("#card-data .card-line").innerText(), /41 classes/);
    assert.equal(await doubts(), "");
  });
  assert.deepEqual(page.errors, []);
});
