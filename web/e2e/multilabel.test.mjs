// Several labels a row: a table, its label columns chosen on the page, the scores of each label, the saved model in every form.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { load, table } from "../predict.mjs";
import { eventually, results, stage, start } from "./browser.mjs";

const { visit } = await stage();

// weather is n rows of a table with three labels: rain where it is wet, wind where pressure is low, and warm in the south.
function weather(n, seed) {
  let state = seed;
  const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  const rows = Array.from({ length: n }, () => {
    const wet = Math.floor(100 * random()), pressure = 960 + Math.floor(80 * random()), place = random() < 0.4 ? "south" : "north";
    return [wet, pressure, place, Number(wet > 55), Number(pressure < 995), Number(place === "south")].join(",");
  });
  return "wet,pressure,place,rain,wind,warm\n" + rows.join("\n") + "\n";
}

test("label columns are chosen in the table, each label is scored, and the saved model answers all of them", async (t) => {
  const page = await visit(t, "#target_epsilon=20"), text = weather(1500, 1);
  await page.locator("#card-data .card-line:has-text('×')").waitFor();
  await page.setInputFiles("#files", { name: "weather.csv", mimeType: "text/csv", buffer: Buffer.from(text) });
  const kinds = () => page.locator("#table tbody:not(.cells) tr:first-child td").evaluateAll((all) => all.map((td) => /** @type {any} */ (td.firstElementChild)?.value ?? td.textContent));
  await eventually(async () => assert.deepEqual(await kinds(), ["numeric", "numeric", "categorical", "numeric", "numeric", "label"]));

  // The label that was there stays one.
  await page.selectOption("#column-3", "label");
  await eventually(async () => assert.deepEqual(await kinds(), ["numeric", "numeric", "categorical", "label", "numeric", "label"]));
  await page.selectOption("#column-4", "label");
  await eventually(async () => assert.deepEqual(await kinds(), ["numeric", "numeric", "categorical", "label", "label", "label"]));
  await eventually(async () => assert.match(await page.locator("#card-data .card-line").innerText(), /3 labels/));
  await eventually(async () => assert.match(await page.locator("#class-rows").innerText(), /^Training rows with each label: rain: \d+, wind: \d+, warm: \d+\.$/));
  await page.screenshot({ path: path.join(results, "labels-table-wide-light.png") });

  await start(page);
  await page.locator("#result").waitFor();
  await eventually(async () => assert.match(await page.locator("#result").innerText(), /test accuracy of a label\s+9\d.\d/));
  await page.locator("#scores summary").click();
  await eventually(async () => {
    const rows = await page.locator("#scores table", { hasText: "By label" }).locator("tbody tr").evaluateAll((all) => all.map((tr) => [...tr.children].map((c) => c.textContent ?? "")));
    assert.deepEqual(rows.map((r) => r[0]), ["rain", "wind", "warm", "mean"]);
    for (const r of rows) assert.ok(parseFloat(r[2]) > parseFloat(r[3]) + 5, `accuracy and that of answering all rows alike: ${r}`);
  });
  await page.locator("#scores").scrollIntoViewIfNeeded();
  await page.screenshot({ path: path.join(results, "labels-scores-wide-light.png") });

  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#save-model-json")]);
  const model = load(fs.readFileSync(/** @type {string} */ (await download.path()), "utf8"));
  const { answer, outputs } = model.predict({ wet: "90", pressure: "970", place: "north" });
  assert.deepEqual(answer, ["rain", "wind"]);

  await page.click("#use-model");
  await page.locator("#about", { hasText: "any of 3 labels, rain, wind, warm" }).waitFor();
  await page.locator("#cell-0").fill("90");
  await page.locator("#cell-1").fill("970");
  await page.locator("#cell-2").selectOption("north");
  await page.locator("#part-row .said .figure", { hasText: /^rain, wind$/ }).waitFor();
  await eventually(async () => assert.deepEqual(await page.locator("#part-row .bar-name").allInnerTexts(), ["rain", "wind", "warm"]));

  // 1,000 rows: the page's file of answers, and predict.mjs.
  const rows = weather(1000, 2);
  await page.setInputFiles("#use-table", { name: "rows.csv", mimeType: "text/csv", buffer: Buffer.from(rows) });
  const [answers] = await Promise.all([page.waitForEvent("download"), page.click("#save-answers")]);
  const [head, ...told] = table(fs.readFileSync(/** @type {string} */ (await answers.path()), "utf8")), [names, ...given] = table(rows);
  assert.deepEqual(head.slice(6), ["answer", "p(rain)", "p(wind)", "p(warm)", "problem"]);
  assert.equal(told.length, 1000);
  told.forEach((row, i) => {
    const { outputs } = model.predict(Object.fromEntries(names.map((name, k) => [name, given[i][k]])));
    outputs.forEach((p, k) => assert.ok(Math.abs(p - Number(row[7 + k])) <= 1e-5, `row ${i}: ${row}, and ${outputs}`));
  });
  await page.setInputFiles("#use-exam", { name: "rows.csv", mimeType: "text/csv", buffer: Buffer.from(rows) });
  await eventually(async () => assert.match(await page.locator("#exam").innerText(), /accuracy of a label\s+9\d.\d/));
  assert.equal(outputs.length, 3);
  await page.click("#check-model");
  await eventually(async () => assert.equal(await page.locator("#verdict h2").textContent(), "The figures agree"));
  assert.deepEqual(page.errors, []);
});
