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
  const day = new Date().toISOString().slice(0, 10);
  await eventually(async () => assert.deepEqual((await rows()).map(([data, begun, ...more]) => [data, begun <= day, ...more]), [["1: people.csv", true, "5", "yes", "ended"]]));
  await page.evaluate(() => clipscope.ledger.forget());
  await page.locator("#spent-none", { hasText: "No run on files" }).waitFor();
  assert.deepEqual(await page.locator("#spent").count(), 0);
  assert.deepEqual(page.errors, []);
});
