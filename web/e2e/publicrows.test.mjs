// Public rows that are mixed into a private run: what they are good for, what is said of them, and what is refused.
import assert from "node:assert/strict";
import { test } from "node:test";
import { STILL, eventually, ready, stage, start, wide } from "./browser.mjs";

const { visit } = await stage();

// table makes n rows of two classes that a line through eight columns parts, with some that lie beyond it.
function table(n, seed) {
  let state = seed;
  const uniform = () => (state = (state * 1103515245 + 12345) % 2147483648) / 2147483648;
  const lines = Array.from({ length: n }, () => {
    const x = Array.from({ length: 8 }, uniform), sum = x.reduce((a, v, i) => a + (i % 2 ? v : -v), 0) + 0.4 * (uniform() - 0.5);
    return [...x.map((v) => v.toFixed(3)), sum > 0 ? "up" : "down"].join(",");
  });
  return "a,b,c,d,e,f,g,h,way\n" + lines.join("\n") + "\n";
}

const mine = table(300, 1), other = table(800, 2), open = table(1000, 3);
const config = { csv: { label: "way" }, scaling: { kind: "declared", lo: 0, hi: 1 }, model: { kind: "softmax" }, target_epsilon: 0.3, accountant: "rdp", steps: 60, expected_batch_size: 60, learning_rate: 1 };

test("at a small ε a few hundred rows are learned better with public ones beside them, at the same ε", async (t) => {
  const page = await visit(t, STILL);
  const r = await page.evaluate(async ([mine, other, open, config]) => {
    const file = (text, name) => new File([text], name), data = { train: [file(mine, "mine.csv")], test: [file(other, "other.csv")] };
    const rejects = async (f) => f().then(() => "it was taken", (e) => e.message);
    const run = async (config, options) => (await clipscope.train(config, data, { anyway: true, ...options })).done;
    const declared = { ...config, public_rows: { public: true, weight: 0.5, batch_size: 50 } }, publicRows = file(open, "open.csv");
    const found = [];
    for (const seed of [1, 2, 3]) {
      const { test_accuracy: without } = await run({ ...config, seed }), { test_accuracy: mixed } = await run({ ...declared, seed }, { publicRows });
      found.push({ without, mixed });
    }
    const plain = await run(config), mixed = await run(declared, { publicRows });
    const named = await clipscope.publicRows(publicRows), opened = await clipscope.open(data, config.csv);
    const plan = await clipscope.plan({ ...declared, public_rows: { ...declared.public_rows, ...named } }, opened);
    opened.close();
    // How many runs a tuning has is drawn: with a mean of 30 there is none once in 10¹³ times.
    const tuned = await run({ ...declared, steps: 1, tuning: { runs: 30, learning_rate: [0.5, 1] } }, { publicRows });
    return {
      found, named, plan, plain: plain.epsilon, mixed: { epsilon: mixed.epsilon, statement: mixed.statement }, tuned: tuned.guarantee,
      refused: {
        undeclared: await rejects(() => run(config, { publicRows })),
        columns: await rejects(() => run(declared, { publicRows: file(open.replaceAll(/^a,/g, "z,"), "renamed.csv") })),
        classes: await rejects(() => run(declared, { publicRows: file(open.replaceAll("down", "left"), "classes.csv") })),
        weight: await rejects(() => run({ ...declared, public_rows: { public: true, weight: 1.5 } }, { publicRows })),
        gone: await rejects(() => run({ ...declared, public_rows: { file: "lost.csv", sha256: "ab".repeat(32), public: true } })),
      },
    };
  }, [mine, other, open, config]);
  const mean = (of) => r.found.reduce((sum, f) => sum + f[of], 0) / 3;
  t.diagnostic(`test accuracy ${mean("without")} without public rows, ${mean("mixed")} with them`);
  assert.ok(mean("mixed") > mean("without") + 0.05, JSON.stringify(r.found));
  assert.equal(r.mixed.epsilon, r.plain);
  assert.deepEqual([r.named.file, r.named.sha256.length, r.plan.public_rows.rows, r.plan.epsilon], ["open.csv", 64, 1000, r.plain]);
  const said = new RegExp(`1000 public rows of open\\.csv \\(SHA-256 ${r.named.sha256}\\) were mixed in with weight 0\\.5, 50 a step`);
  for (const text of [r.plan.guarantee, r.mixed.statement.text, r.tuned]) assert.match(text, said);
  assert.deepEqual([r.mixed.statement.guarantee, r.mixed.statement.public_rows.rows], [true, 1000]);
  assert.match(r.refused.undeclared, /^public_rows\.public: ε promises nothing to the rows of open\.csv/);
  assert.match(r.refused.columns, /^public_rows: renamed\.csv.*"a"/);
  assert.match(r.refused.classes, /^public_rows: classes\.csv.*left/);
  assert.match(r.refused.weight, /^public_rows\.weight: 1\.5 is not between 0 and 1/);
  assert.match(r.refused.gone, /^public_rows: the run mixes in the public rows of lost\.csv \(SHA-256 abababababab…\), and they are not open here/);
  assert.deepEqual(page.errors, []);
});

test("the page adds public rows, and a link asks for their file", async (t) => {
  const page = await visit(t, "#data=moons&model.kind=softmax&target_epsilon=1&accountant=rdp&steps=3&expected_batch_size=50", { viewport: wide });
  const csv = (name, text) => ({ name, mimeType: "text/csv", buffer: Buffer.from(text) });
  await page.setInputFiles("#files", csv("mine.csv", mine));
  await eventually(async () => assert.match(await page.locator("#card-data").textContent(), /240 rows|300 rows/));
  await page.locator("#card-model .card-head").click();
  await page.locator("#public-from summary").click();
  await page.setInputFiles("#public-file", csv("open.csv", open));
  await page.locator("#f-public_rows-public-fault", { hasText: "Declare that they are public" }).waitFor();
  await page.locator("#f-public_rows-public").check();
  await page.locator("#public-used", { hasText: /1,000 public rows of open\.csv \(SHA-256 [0-9a-f]{12}…\): each step mixes some in/ }).waitFor();
  await page.fill("#f-public_rows-weight", "0.25");
  await eventually(async () => assert.match(page.url(), /public_rows\.public=true&public_rows\.sha256=[0-9a-f]{64}&public_rows\.weight=0\.25/));
  await start(page);
  await page.locator("#result", { hasText: "1000 public rows of open.csv" }).waitFor();

  const address = page.url();
  await page.goto("about:blank");
  await page.goto(address);
  await ready(page);
  await page.setInputFiles("#files", csv("mine.csv", mine));
  await page.locator("#card-data", { hasText: "240 × 8" }).waitFor();
  await page.locator("#card-model .card-head").click();
  await page.locator("#f-public_rows-sha256-fault", { hasText: "public rows of open.csv" }).waitFor();
  await page.setInputFiles("#public-file", csv("again.csv", open));
  await page.locator("#f-public_rows-sha256-fault").waitFor({ state: "hidden" });
  await page.click("#public-drop");
  await eventually(async () => assert.ok(!page.url().includes("public_rows")));
  assert.deepEqual(page.errors, []);
});
