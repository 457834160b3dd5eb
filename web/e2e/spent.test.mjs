// What data have spent: which data are the same, runs without a guarantee, and that every
// entrance to a person's rows is charged.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, stage, STILL } from "./browser.mjs";

const { visit } = await stage();

const table = (rows, salt = 0) => "width,height,kind\n" + Array.from({ length: rows }, (_, i) => `${i + salt / 8},${(i * 5) % 13},${i % 2}`).join("\n") + "\n";
const config = { model: { kind: "softmax" }, method: "constant", noise_multiplier: 2, max_grad_norm: 1, target_delta: 1e-5, expected_batch_size: 20, steps: 5, learning_rate: 0.1, scaling: { kind: "declared", lo: 0, hi: 20 } };

// pictures has a page draw PNG files in two folders, each of its own pixels.
const pictures = (page) => page.evaluate(async () => {
  const files = [];
  for (let i = 0; i < 60; i++) {
    const canvas = new OffscreenCanvas(8, 8), g = canvas.getContext("2d");
    for (let k = 0; k < 64; k++) {
      g.fillStyle = `rgb(${(i * 31 + k * k) % 256}, ${(k * (i + 1)) % 256}, ${i})`;
      g.fillRect(k % 8, k >> 3, 1, 1);
    }
    const file = new File([await canvas.convertToBlob()], `${i}.png`);
    Object.defineProperty(file, "webkitRelativePath", { value: `all/${["cat", "dog"][i % 2]}/${i}.png` });
    files.push(file);
  }
  Object.assign(window, { files });
});

test("59 of 60 pictures are no new data: the total and the limit have both runs", async (t) => {
  const page = await visit(t, STILL);
  await pictures(page);
  const r = await page.evaluate(async () => {
    const config = { model: { kind: "softmax" }, target_epsilon: 1, target_delta: 1e-5, expected_batch_size: 24, steps: 30 };
    const first = await (await clipscope.train(config, { train: /** @type {any} */ (window).files })).done;
    const data = await clipscope.open({ train: /** @type {any} */ (window).files.slice(1) });
    const next = await clipscope.plan(config, data), total = await clipscope.ledger.total(data, { ...next.events, steps: next.steps });
    await clipscope.ledger.limit({ epsilon: 1.2 });
    const refused = await clipscope.train(config, data).then(() => ({}), (e) => ({ ...e.detail, message: e.message }));
    const again = await (await clipscope.train(config, data, { anyway: true })).done;
    data.close();
    return { first: first.statement.ledger, total, refused, again: again.statement.ledger, data: (await clipscope.ledger.entries()).map((e) => e.data) };
  });
  assert.equal(r.first.runs, 1);
  assert.ok(r.first.epsilon > 0.98 && r.first.epsilon <= 1);
  assert.equal(r.total.runs.length, 1);
  assert.ok(r.total.next_epsilon > 1.35 && r.total.next_epsilon < 1.5, `${r.total.next_epsilon}`);
  assert.equal(r.refused.kind, "limit");
  assert.ok(Math.abs(r.refused.next_epsilon - r.total.next_epsilon) < 1e-9);
  assert.deepEqual([r.again.runs, r.data], [2, [1, 1]]);
  assert.ok(Math.abs(r.again.epsilon - r.total.next_epsilon) < 0.01, `${r.again.epsilon}`);
  assert.deepEqual(page.errors, []);
});

test("a run without a guarantee makes the total infinite, and the page may ask without a limit", async (t) => {
  const page = await visit(t, STILL);
  const r = await page.evaluate(async ([text, config]) => {
    const data = await clipscope.open({ train: [new File([text], "table.csv")] }), refused = [];
    const first = (await (await clipscope.train(config, data)).done).statement.ledger;
    for (const change of [{ method: "none", noise_multiplier: undefined }, { noise_multiplier: 0, no_privacy: true }, { seed: 1 }, { scaling: { kind: "measured" } }]) {
      refused.push(await clipscope.train({ ...config, ...change }, data, { ask: true }).then(() => ({}), (e) => ({ ...e.detail, message: e.message })));
    }
    const bare = await (await clipscope.train({ ...config, method: "none", noise_multiplier: undefined }, data)).done;
    const total = await clipscope.ledger.total(data);
    const on = (await (await clipscope.train(config, data)).done).steps; // there is no limit that it could go over
    data.close();
    return { first, refused, total, bare: bare.statement, on, lines: (await clipscope.ledger.entries()).length };
  }, [table(60), config]);
  for (const f of r.refused) {
    assert.equal(f.kind, "guarantee", f.message);
    assert.deepEqual([f.next_epsilon, f.epsilon], [Infinity, r.first.epsilon]);
    assert.match(f.message, /carries no guarantee.*So far ε = [\d.]+ has been spent/);
  }
  assert.equal(r.total.epsilon, Infinity);
  assert.ok(Math.abs(r.total.guaranteed_epsilon - r.first.epsilon) < 1e-9);
  assert.match(r.total.text, /ε = ∞: 1 of its 2 runs has no guarantee\. The other has spent ε = [\d.]+ at δ = 1e-05/);
  assert.deepEqual([r.bare.ledger.epsilon, r.bare.ledger.guaranteed_epsilon, r.on, r.lines], [Infinity, r.total.guaranteed_epsilon, 5, 3]);
  assert.deepEqual(page.errors, []);
});

// What each function of the interface does with rows of a person's files: "charged" has an
// entry before it tells anything; "asked" is charged and, as it has no guarantee, refused
// unless it is allowed; the rest tells nothing of rows that a model is trained on, or needs
// none.
const entrances = {
  train: "charged", lab: "asked", continue: "charged before it was interrupted", resume: "charged before it was interrupted",
  open: "counts as public", features: "counts as public", plan: "counts as public", together: "counts as public; train trains with others",
  load: "reads no training rows; its evaluate and predict tell their owner of rows that he gives", convert: "reads a model", start: "reads a model", publicRows: "names a file; what is public costs nothing",
  audit: "reads made-up rows", backbone: "reads a model",
  methods: "", datasets: "", epsilon: "", calibrate: "", delta: "", report: "", attack: "", check: "reads a saved file", curve: "", group: "", tuning: "",
  interrupted: "", onInterrupted: "", discard: "", forgetFeatures: "", ledger: "", version: "", ready: "",
};

test("every entrance to a person's rows is charged", async (t) => {
  const page = await visit(t, STILL);
  const r = await page.evaluate(async ([text, config]) => {
    const data = await clipscope.open({ train: [new File([text], "table.csv")] }), seen = {};
    const entries = async () => (await clipscope.ledger.entries()).map((e) => [e.charged, e.unprotected]);
    await clipscope.plan(config, data);
    seen.before = await entries();
    const refused = await clipscope.lab(config, data).then(() => ({}), (e) => ({ ...e.detail, message: e.message }));
    seen.refused = await entries();
    await (await clipscope.train(config, data)).done;
    seen.train = await entries();
    await (await clipscope.train({ ...config, noise_multiplier: 8, tuning: { runs: 1, learning_rate: [0.1], max_grad_norm: [1] } }, data)).done;
    seen.tuned = await entries();
    await clipscope.ledger.limit({ epsilon: 100 });
    const limited = await clipscope.lab(config, data).then(() => ({}), (e) => e.detail);
    await clipscope.ledger.limit(null);
    const lab = await clipscope.lab(config, data, { anyway: true });
    const states = [(await clipscope.ledger.entries()).at(-1).state];
    const rows = lab.look.rows;
    lab.close();
    const builtin = await clipscope.lab({ ...config, data: "moons", scaling: undefined });
    builtin.close();
    seen.lab = await entries();
    const { epsilon } = await clipscope.ledger.total(data);
    data.close();
    return { keys: Object.keys(clipscope).sort(), seen, refused, limited, rows, states, epsilon };
  }, [table(60), config]);
  assert.deepEqual(r.keys.filter((key) => !(key in entrances)), [], "say here what a new function does with rows, and charge it");
  assert.equal(r.refused.kind, "guarantee", r.refused.message);
  assert.equal(r.limited.kind, "limit");
  assert.ok(r.rows > 0);
  const [run, look] = [[5, false], [0, true]];
  assert.deepEqual([r.seen.before, r.seen.refused, r.seen.train], [[], [], [run]]);
  assert.equal(r.seen.tuned.length, 2, "“Choose for me” is charged");
  assert.deepEqual(r.seen.lab.slice(2), [look], "a look at built-in data has no entry");
  assert.deepEqual([r.states, r.epsilon], [["running"], Infinity]);
  await eventually(async () => assert.ok((await page.evaluate(() => clipscope.ledger.entries())).every((e) => e.state === "closed"), "the laboratory is closed"));
  assert.deepEqual(page.errors, []);
});

test("figures on the training file say that they flatter, those on other rows do not", async (t) => {
  const page = await visit(t, STILL);
  const r = await page.evaluate(async ([text, less, other, config]) => {
    const result = await (await clipscope.train(config, { train: [new File([text], "people.csv")] })).done;
    const model = await clipscope.load(result), found = {};
    for (const [what, t] of Object.entries({ text, less, other })) found[what] = (await model.evaluate(new File([t], "again.csv"))).trained_on;
    model.dispose();
    return found;
  }, [table(60), table(60).replace(/\n7,.*/, ""), table(60, 1), { ...config, csv: { label: "kind" } }]);
  assert.deepEqual([r.text?.map((l) => l.label), r.less?.length, r.other], [["people.csv"], 1, undefined]);
  assert.deepEqual(page.errors, []);
});
