// The page that lists the runs on files which the ledger counts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, stage } from "./browser.mjs";

const { visit } = await stage();

test("a run on a file is listed with what it was charged until it is deleted", async (t) => {
  const page = await visit(t, "spent");
  await page.locator("#spent-none", { hasText: "No run on files" }).waitFor();
  const rows = async () => page.locator("#spent tbody tr").evaluateAll((all) => all.map((tr) => [...tr.children].map((cell) => cell.textContent)));
  await page.evaluate(async () => {
    const lines = Array.from({ length: 40 }, (_, i) => `${i % 7},${i % 3},${i % 2}`);
    const data = await clipscope.open({ train: [new File(["a,b,label\n" + lines.join("\n")], "people.csv")] });
    const config = { model: { kind: "softmax" }, noise_multiplier: 2, target_delta: 1e-5, expected_batch_size: 8, steps: 5, threads: 1 };
    await (await clipscope.train(config, data)).done;
  });
  const { epsilon } = await page.evaluate(async () => (await clipscope.ledger.entries({ priced: true }))[0].price);
  assert.ok(epsilon > 1 && epsilon < 10, `${epsilon}`);
  await eventually(async () => {
    const [[data], [begun, ...more]] = await rows();
    const [, total] = /** @type {RegExpMatchArray} */ (data.match(/^1: people\.csvε = ([\d.]+) in all \(δ = 1e−5\), 1 run$/)), [method, alone, ...rest] = more;
    assert.match(begun, /^\d{4}-\d\d-\d\d \d\d:\d\d$/);
    assert.ok(Math.abs(Number(alone) - epsilon) < 0.01 && total === alone, `${alone} and ${total}, of ${epsilon}`);
    assert.deepEqual([method, ...rest], ["constant", "5", "ended"]);
  });
  await page.evaluate(() => clipscope.ledger.forget());
  await page.locator("#spent-none", { hasText: "No run on files" }).waitFor();
  assert.deepEqual(await page.locator("#spent").count(), 0);
  assert.deepEqual(page.errors, []);
});
