// A bank's table as people download it: a block above the header, a row of sums at the end, and gaps.
// What keeps it from being read is mended by buttons beside the reason.
import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { eventually, results, stage } from "./browser.mjs";

const { visit } = await stage();
const csv = (name, text) => ({ name, mimeType: "text/csv", buffer: Buffer.from(text, "latin1") });

test("a row of sums and gaps are settled by a press each, and leave nothing in the schema", async (t) => {
  const page = await visit(t, "");
  const rows = Array.from({ length: 120 }, (_, i) => [`${String(1 + i % 28).padStart(2, "0")}.0${1 + i % 9}.2024`, ["Überweisung", "Lastschrift"][i % 2], `${i % 3 ? "" : "-"}1.${String(i * 7 % 1000).padStart(3, "0")},${10 + i % 90}`, i % 20 === 3 ? "" : `${i % 7},5 %`, ["Miete", "Strom", "Lohn"][i * i % 7 % 3]].join(";"));
  const bank = ['"Umsätze";"Bank"', '"Zeitraum:";"01.01.2024 - 31.12.2024"', "", "Buchungstag;Art;Betrag;Zins;Kategorie", ...rows, "Summe;;140.000,00;;"].join("\r\n");
  await page.setInputFiles("#files", csv("umsaetze.csv", bank));
  await eventually(async () => {
    assert.match(await page.locator("#data-fault:visible").innerText(), /row 125, column 1 .*found "Summe"\. If the row sums up the others, remove it, or skip rows that cannot be read\./);
    const about = await page.locator("#table").innerText();
    assert.match(about, /header above row 5/);
    assert.match(about, /what stands above row 4 is not of the table and is skipped \(Umsätze, Bank, Zeitraum:, 01\.01\.2024 - 31\.12\.2024\)/);
    assert.match(about, /dates, day first/); // of the column that cannot be read as it is
  });
  await page.locator("#bad-rows-skip").click();
  await page.locator("#missing-indicator").click();
  await page.locator("#act-start[aria-disabled=false]").waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.id), "show-table");
  await page.screenshot({ path: path.join(results, "bank-wide-light.png") });
  const settled = await page.locator("#table").innerText();
  assert.match(settled, /2 categories; 1 missing/);
  assert.match(settled, /3 classes; 1 missing/);
  assert.match(settled, /A feature says where a value is missing: of Zins\./);
  assert.match(settled, /24 of 120 rows/);

  // What a point means is asked, and the menu says what it was taken for.
  await page.setInputFiles("#files", csv("points.csv", "x;y;group\n" + Array.from({ length: 60 }, (_, i) => `${2 + i % 7}.${100 + i};${i % 5};${"abb"[i % 3]}`).join("\n") + "\n"));
  await eventually(async () => assert.equal(await page.locator("#f-csv-decimal:visible option:checked").innerText(), "detected: comma"));
  assert.deepEqual(page.errors, []);
});
