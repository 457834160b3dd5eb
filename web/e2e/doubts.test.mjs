// What only the owner of a table can settle stands above the choices that settle it, and is to be
// read before a run.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { parquetWriteBuffer } from "hyparquet-writer";
import { eventually, hasShared, results, shared, stage, STILL } from "./browser.mjs";

const { visit } = await stage();

test("a table's doubts are said before the run, and go with the choice that settles them", async (t) => {
  const page = await visit(t, "");
  const rows = Array.from({ length: 200 }, (_, i) => `${1 + i % 3},${20 + i % 41},Dr. ${String.fromCharCode(97 + i % 26, 97 + i / 26)},${["First", "Second", "Third"][i % 3]}`);
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

test("what Parquet stores as text is text, and pandas' index is no feature", async (t) => {
  const page = await visit(t, STILL), n = 60;
  const column = (name, type, value) => ({ name, type, data: Array.from({ length: n }, (_, i) => value(i)) });
  const made = Buffer.from(parquetWriteBuffer({ columnData: [
    column("code", "STRING", (i) => ["00501", "02139", "40E1"][i % 3]), column("day", "STRING", (i) => `2024-01-${String(1 + i % 28).padStart(2, "0")}`),
    column("x", "DOUBLE", (i) => i / 8), column("group", "STRING", (i) => "abb"[i % 3]), column("__index_level_0__", "INT64", (i) => BigInt(37 * i % 100)),
  ] }));
  const kinds = (bytes, name, csv) => page.evaluate(async ([base64, name, csv]) => {
    const file = new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], name), data = await clipscope.open({ train: [file] }, csv);
    data.close();
    return { columns: Object.fromEntries(data.summary.columns.map((c) => [c.name, c.kind])), label: data.summary.label, doubts: data.summary.doubts ?? [] };
  }, [bytes.toString("base64"), name, csv ?? {}]);
  const read = await kinds(made, "made.parquet");
  assert.deepEqual(read.columns, { code: "categorical", day: "numeric", x: "numeric", group: "label", __index_level_0__: "ignored" });
  assert.match(read.doubts.join("\n"), /code is text in the file, though its cells look like numbers/);
  assert.equal((await kinds(made, "made.parquet", { columns: { code: "numeric" } })).columns.code, "numeric");
  for (const name of ["03-pandas-index", "03b-pandas-index-feature"]) {
    if (!hasShared("trials", `${name}.parquet`)) continue;
    const { columns, label } = await kinds(fs.readFileSync(path.join(shared, "trials", `${name}.parquet`)), name);
    for (const [column, kind] of Object.entries(columns)) if (/index/.test(column)) assert.deepEqual([kind, label === column], ["ignored", false], `${name}: ${column}`);
  }
  if (hasShared("trials", "08b-typed-text.parquet")) {
    const { columns } = await kinds(fs.readFileSync(path.join(shared, "trials/08b-typed-text.parquet")), "08b");
    assert.ok(Object.values(columns).filter((kind) => kind === "categorical").length > 0, JSON.stringify(columns));
  }
  assert.deepEqual(page.errors, []);
});
