// The statement of a run on the page: its sections, the curve of what an attacker can do, the
// paragraph for a report; and a declared number of rows, which no file and no statement betrays.
import assert from "node:assert/strict";
import test from "node:test";
import { eventually, stage, start, STILL } from "./browser.mjs";

const { visit } = await stage();

const rows = (n) => "a,b,says\n" + Array.from({ length: n }, (_, i) => `${i % 97},${(i * i) % 89},${i % 3 ? "no" : "yes"}`).join("\n");

test("a declared number of rows holds rows out each by itself, plans the same, and is all that is told", async (t) => {
  const page = await visit(t, STILL);
  const seen = await page.evaluate(async (texts) => {
    const config = { target_epsilon: 2, num_examples: 400, model: { kind: "softmax" }, steps: 20, seed: undefined };
    const file = (text) => new File([text], "rows.csv");
    const refused = await clipscope.plan(config, await clipscope.open({ train: [file(texts[0])] }, { label: "says" })).catch((e) => e.detail.field);
    const plans = [], told = [];
    let ended;
    for (const text of texts) {
      const data = await clipscope.open({ train: [file(text)] }, { label: "says", hold_out: "row" });
      plans.push(await clipscope.plan(config, data));
      told.push([data.summary.rows, data.summary.test_rows]);
      if (text === texts[1]) ended = await (await clipscope.train(config, data)).done;
      data.close();
    }
    return { refused, plans, told, statement: ended.statement, guarantee: ended.guarantee };
  }, [rows(500), rows(501)]);
  assert.equal(seen.refused, "num_examples");
  assert.deepEqual(seen.plans[0], seen.plans[1]);
  const [[train, test], [more, moreTest]] = seen.told;
  assert.equal(train + test + 1, more + moreTest);
  const { statement } = seen;
  assert.equal(statement.neighbouring_relation, "add or remove one row");
  assert.deepEqual([statement.num_examples, statement.num_examples_declared, statement.data], [400, true, "rows.csv"]);
  assert.match(statement.date, /^\d{4}-\d\d-\d\d$/);
  assert.match(statement.short, /add-or-remove/);
  const counted = new RegExp(`(?<![\\d.])${more}(?![\\d.])`); // as a number of its own
  for (const told of [JSON.stringify(statement), seen.guarantee]) assert.doesNotMatch(told, counted);
  assert.deepEqual(page.errors, []);
});

test("the statement on the page has its sections, a curve, and a paragraph to copy", async (t) => {
  const page = await visit(t, "#data=moons&steps=20&target_epsilon=2&num_examples=1500", { permissions: ["clipboard-read", "clipboard-write"] });
  await eventually(async () => assert.match(await page.locator("#f-declared").textContent(), /to train on, and 1,500 declared/));
  await start(page);
  await page.locator("#statement summary").click();
  const headings = page.locator(".statement-section h3");
  await eventually(async () => assert.deepEqual(await headings.allTextContents(),
    ["What is promised", "What it is about", "What is covered", "What is not covered", "What an attacker can do", "How it was worked out", "How the run checked itself", "Where it comes from"]));
  await eventually(async () => assert.ok(await page.locator(".statement-section canvas").count() > 0, "there is no curve"));
  assert.match(await page.locator(".statement-text").innerText(), /declared to have 1,500 rows to train on/);
  await page.locator("#copy-short").click();
  await eventually(async () => assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^The model .* on a declared number of 1,500 rows of moons.* guesses right at most [\d.]+ % of the time/));
  assert.deepEqual(page.errors, []);
});
