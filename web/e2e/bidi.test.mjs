// Names of a file's that would turn round the words behind them: the page shows their controls as
// codes, wherever such a name stands.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, stage } from "./browser.mjs";

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
  assert.deepEqual([...page.errors, ...use.errors], []);
});
