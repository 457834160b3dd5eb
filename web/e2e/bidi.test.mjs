// Names of a file's that would turn round the words behind them: the page shows their controls as
// codes, wherever such a name stands.
import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";
import { eventually, stage, start } from "./browser.mjs";

const { visit } = await stage();

const turning = /[\u202A-\u202E\u2066-\u2069]/;

// holds asserts that the page shows the codes, and neither as text nor as a label a control.
/** @param {any} page @param {string[]} codes */
const holds = (page, ...codes) => eventually(async () => {
  const shown = await page.evaluate(() => [document.querySelector("main")?.innerText ?? "", ...[...document.querySelectorAll("main [title], main [aria-label]")].map((e) => `${e.getAttribute("title")} ${e.getAttribute("aria-label")}`)].join("\n"));
  for (const code of codes) assert.ok(shown.includes(code), `${code} is not shown`);
  assert.doesNotMatch(shown, turning);
});

test("names that turn text round are shown with their controls as codes", async (t) => {
  const page = await visit(t, "");
  const table = "\u202Ewidth,height,kind\n" + Array.from({ length: 60 }, (_, i) => `${i % 17},${i % 5},${i % 2 ? "\u2066yes" : "\u202Eno"}`).join("\n") + "\n";
  await page.setInputFiles("#files", { name: "\u202Efdp.csv", mimeType: "text/csv", buffer: Buffer.from(table) });
  await holds(page, "⟨U+202E⟩fdp.csv", "⟨U+202E⟩width", "⟨U+202E⟩no: ", "⟨U+2066⟩yes: ");

  const use = await visit(t, "use"); // whose program is there: it draws the control anew
  const apply = { task: "classification", outputs: 2, features: 2, classes: ["\u202Ea", "\u2067b"], scaling: { kind: "none" }, layers: [{ layer: "dense:2", shape: [2], parameters: 6 }] };
  const model = { format: "clipscope-model", version: 1, config: {}, guarantee: "\u202Enone", epsilon: 1, delta: 1e-5, accountant: "pld", steps: 3, apply, parameters: [1, 2, 3, 4, 5, 6] };
  await use.setInputFiles("#use-model", { name: "\u202Emodel.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify(model)) });
  await holds(use, "⟨U+202E⟩model.json", "⟨U+202E⟩a, ⟨U+2067⟩b", "⟨U+202E⟩none");

  const check = await visit(t, "check");
  await check.setInputFiles("#check-file", { name: "\u202Emodel.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify({ ...model, epsilon: "\u202E1" })) });
  await holds(check, "⟨U+202E⟩model.json");
  assert.deepEqual([...page.errors, ...use.errors, ...check.errors], []);
});

test("a run on such a table, its statement and the answers of its model show them so, too", async (t) => {
  const page = await visit(t, "#model.kind=softmax&expected_batch_size=30&noise_multiplier=1&steps=20");
  const table = "\u202Ewidth,colour,kind\n" + Array.from({ length: 200 }, (_, i) => `${i % 17},${i % 3 ? "\u2067red" : "\u202Eblue"},${i % 2 ? "\u2066yes" : "\u202Eno"}`).join("\n") + "\n";
  const given = { name: "\u202Efdp.csv", mimeType: "text/csv", buffer: Buffer.from(table) };
  await page.setInputFiles("#files", given);
  await page.locator("#card-data .card-line", { hasText: "fdp.csv" }).waitFor();
  await start(page);
  await page.locator("#statement summary").click();
  await holds(page, "Data: ⟨U+202E⟩fdp.csv");
  const text = page.waitForEvent("download");
  await page.locator("#save-statement-text").click();
  assert.match(fs.readFileSync(await (await text).path(), "utf8"), /Data: ⟨U\+202E⟩fdp\.csv/);

  const model = page.waitForEvent("download");
  await page.locator("#save-model-json").click();
  const use = await visit(t, "use");
  await use.setInputFiles("#use-model", { name: "model.json", mimeType: "application/json", buffer: fs.readFileSync(await (await model).path()) });
  await use.setInputFiles("#use-table", given);
  await holds(use, "⟨U+202E⟩fdp-answers.csv", "p(⟨U+2066⟩yes)", "⟨U+2067⟩red");
  assert.deepEqual(await use.locator("option").allTextContents().then((all) => all.filter((text) => turning.test(text))), []);
  assert.deepEqual([...page.errors, ...use.errors], []);
});
