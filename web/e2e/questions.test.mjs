// What a table leaves open is asked, with the choice beside the question.
import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { eventually, results, stage } from "./browser.mjs";

const { visit } = await stage();

test("whether the first row has names, and what a point is, is asked and chosen in one place", async (t) => {
  const page = await visit(t, "");
  const rows = Array.from({ length: 200 }, (_, i) => `${1 + i * 7 % 9}.${100 + i * 37 % 800},${20 + i % 41},${i * i % 3}`);
  await page.setInputFiles("#files", { name: "odd.csv", mimeType: "text/csv", buffer: Buffer.from(`2019,2020,2021\n${rows.join("\n")}\n`) });
  const doubts = async () => (await page.locator("#data-doubts .warning:visible").allInnerTexts()).join("\n");
  await eventually(async () => {
    assert.match(await doubts(), /row 1 \(2019, 2020, 2021\) is read as data\. If it names the columns, choose so under First row\./);
    assert.equal(await page.locator("#run-warned:visible").count(), 1);
  });
  assert.equal(await page.locator("#f-csv-header:visible option:checked").innerText(), "detected: a row of data");
  await page.screenshot({ path: path.join(results, "questions-wide-light.png") });
  await page.selectOption("#f-csv-header", "yes");
  await eventually(async () => {
    assert.doesNotMatch(await doubts(), /First row/);
    assert.match(await doubts(), /2019: "\d\.\d{3}" is read as \d\.\d+; it could also be \d{4}\. Choose the decimal mark\./);
  });
  assert.equal(await page.locator("#f-csv-header:visible").inputValue(), "yes");
  await page.selectOption("#f-csv-decimal:visible", ".");
  await eventually(async () => {
    assert.doesNotMatch(await doubts(), /decimal mark/);
    assert.match(await page.locator("#card-data .card-line").innerText(), /160 × 2/);
  });
  assert.deepEqual(page.errors, []);
});
