// Units and times of columns: what the page reads, what it shows of it, and what a model makes of other units.
import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { load } from "../predict.mjs";
import { eventually, results, stage, wide } from "./browser.mjs";

const { visit } = await stage();

// sales are rows of shares, prices and times of one day.
const sales = (n) => ["share,price,t,day,when,group", ...Array.from({ length: n }, (_, i) => {
  const at = new Date(Date.UTC(2024, 1, 14, 9) + 1_790 * i), day = new Date(Date.UTC(2023, 0, 1 + i % 600));
  return [`${(i * 37 % 1000) / 10}%`, `$${(i * 61 % 5000) / 100}`, at.getTime(), day.toISOString().slice(0, 10).replaceAll("-", ""), at.toISOString().slice(0, 19).replace("T", " "), i * 37 % 1000 > 500 ? "much" : "little"].join(",");
})].join("\n") + "\n";

test("a share is a share, a time a time, and another unit a problem of its row", async (t) => {
  const page = await visit(t, "");
  await page.setViewportSize(wide);
  await page.setInputFiles("#files", { name: "sales.csv", mimeType: "text/csv", buffer: Buffer.from(sales(400)) });
  await page.locator("#card-data .card-line", { hasText: "sales.csv" }).waitFor();
  if (await page.locator("#card-data .card-head").getAttribute("aria-expanded") === "false") await page.click("#card-data .card-head");
  await page.click("#show-table");
  const table = page.locator("#table");
  await eventually(async () => assert.match(await table.innerText(), /numbers with “%”[\s\S]*numbers with “\$”[\s\S]*times \(ms\)[\s\S]*times \(yyyymmdd\)[\s\S]*dates, year first/));
  assert.match(await table.innerText(), /→ 0\.037[\s\S]*→ 2024-02-14 09:00:01\.79[\s\S]*t is read as times \(milliseconds since 1970 began\)/);
  await page.screenshot({ path: path.join(results, "units-table-wide-light.png") });

  const made = await page.evaluate(async (text) => {
    const config = { scaling: { kind: "private" }, noise_multiplier: 0.3, steps: 40, expected_batch_size: 200 };
    const result = await (await window.clipscope.train(config, { train: [new File([text], "sales.csv")] })).done;
    const model = await window.clipscope.load(result);
    const row = { share: "12%", price: "$7", t: "1707901203790", day: "20230301", when: "2024-02-14 09:10:11" };
    const asked = [row, { ...row, share: 0.12, price: 7 }, { ...row, share: "0.12" }, { ...row, price: "€7" }, { ...row, t: "2024-02-14" }];
    const { apply, parameters } = result.released, answers = await model.predict(asked);
    model.dispose();
    return { row, answers, json: JSON.stringify({ apply, parameters: [...parameters] }), apply, file: JSON.stringify({ ...result, apply, parameters: [...parameters] }) };
  }, sales(2000));
  const [first, ...others] = made.answers;
  assert.deepEqual(others[0].outputs, first.outputs);
  assert.match(others[1].problem, /"share"\): expected a number with "%".*Write 0\.12% if that is the number of per cent, or 12% if it is a share/);
  assert.match(others[2].problem, /"price"\).*"\$".*write it as \$7/);
  assert.match(others[3].problem, /"t"\).*Write 1707868800000/);
  load(made.json).predict(made.row).outputs.forEach((p, k) => assert.ok(Math.abs(p - first.outputs[k]) < 1e-5));
  const { columns, scaling } = made.apply, date = (v) => new Date(v * 86_400_000).toISOString().slice(0, 10);
  assert.deepEqual(columns.map(({ units, time, offset, clock }) => [units, time, offset, clock]),
    [[["%"], undefined, undefined, undefined], [["$"], undefined, undefined, undefined], [[""], "ms", 10957, 3], [[""], "yyyymmdd", 10957, undefined], [undefined, undefined, 10957, 6], [undefined, undefined, undefined, undefined]]);
  // The bounds of dates come from a calendar.
  const { first: at } = columns[3], bounds = [scaling.lo[at], scaling.hi[at]].map((v) => date(v + 10957));
  assert.ok(bounds[0] >= "2020-01-01" && bounds[1] <= "2030-01-01", bounds.join(" to "));
  assert.deepEqual(page.errors, []);
});
