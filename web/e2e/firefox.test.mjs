// What a person does in a session, in Firefox, as other files try it in Chromium: a model of a
// table is taken away and answers, and a run that a reload ends goes on.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ready, serve } from "./browser.mjs";
import { missing, sharedFirefox } from "./firefox.mjs";
import { answers, load, table } from "../predict.mjs";

const server = missing ? undefined : await serve();
after(() => server?.close());
const firefox = sharedFirefox({});
const visit = async (t, where = "") => {
  const page = await (await firefox()).page(`${server?.url}${where}`, t);
  await ready(page);
  return page;
};

const rows = (n) => "width,height,kind\n" + Array.from({ length: n }, (_, i) => `${(i * 7) % 17},${(i * 5) % 13},${i % 17 > 8 ? "wide" : "high"}`).join("\n") + "\n";
const onTable = { model: { kind: "softmax" }, noise_multiplier: 1, expected_batch_size: 100, scaling: { kind: "declared", lo: 0, hi: 20 } };

test("a model of a table is saved, loaded and answers as predict.mjs does, Firefox", { skip: missing }, async (t) => {
  const page = await visit(t);
  const out = await page.evaluate(async ([text, config]) => {
    const clipscope = window.clipscope, run = await clipscope.train(config, { train: [new File([text], "table.csv")] });
    const result = await run.done, zip = await clipscope.convert(result, "zip"), json = await clipscope.convert(result, "json");
    const m = await clipscope.load(new File([zip], "model.zip")), csv = await m.predict(new File([text], "rows.csv"));
    const exam = await m.evaluate([new File([text], "rows.csv")]);
    m.dispose();
    return { json: await json.text(), csv: await csv.text(), bytes: zip.size, epsilon: result.epsilon, exam: [exam.test_rows, exam.problems] };
  }, [rows(600), { ...onTable, steps: 60 }]);
  const have = table(out.csv), want = table(answers(load(out.json), rows(600)));
  assert.equal(have.length, want.length);
  for (const [i, w] of want.entries()) for (const [k, cell] of w.entries()) {
    const h = have[i][3 + k];
    if (i === 0 || Number.isNaN(Number(cell))) assert.equal(h, cell, `row ${i}`);
    else assert.ok(Math.abs(Number(h) - Number(cell)) <= 1e-5, `row ${i}: ${h}, and ${cell}`);
  }
  assert.deepEqual(out.exam, [600, 0]);
  t.diagnostic(`an archive of ${out.bytes} bytes, ε = ${out.epsilon}`);
  assert.deepEqual(page.errors, []);
});

const PLANNED = 10_000_000; // steps of a run that is left on the way: far more than are done while a page leads elsewhere
test("a run that a reload ends goes on with its file, Firefox", { skip: missing }, async (t) => {
  const page = await visit(t);
  const seen = await page.evaluate(async ([text, config]) => {
    const run = await window.clipscope.train(config, { train: [new File([text], "table.csv")] });
    let seen = 0;
    const at = (step) => new Promise((resolve) => run.on((e) => { seen = e.step; if (seen >= step) resolve(seen); }));
    await at(500);
    run.store();
    await run.memory(); // the worker has heard that, and stores it after the step under way
    await at(seen + 1000);
    return seen;
  }, [rows(400), { ...onTable, expected_batch_size: 20, steps: PLANNED }]);
  await page.goto(`${server?.url}use`);
  await ready(page);
  await page.waitForFunction(() => window.clipscope.interrupted().then((list) => list.length === 1));
  const end = await page.evaluate(async (text) => {
    const [stored] = await window.clipscope.interrupted();
    const refused = await window.clipscope.resume(stored.id, { train: [new File([text + "1,1,wide\n"], "table.csv")] }).catch((e) => e.message);
    const run = await window.clipscope.resume(stored.id, { train: [new File([text], "table.csv")] });
    await new Promise((resolve) => run.on((e) => { if (e.step >= stored.released + 500) resolve(0); }));
    run.stop();
    const { steps, lost_steps } = await run.done, entries = (await window.clipscope.ledger.entries()).filter((e) => e.run === stored.id);
    return { stored, refused, steps, lost: lost_steps ?? 0, entries: entries.map((e) => [e.state, e.charged]), left: (await window.clipscope.interrupted()).length };
  }, rows(400));
  assert.match(end.refused, /not the data that the run was interrupted on/);
  assert.ok(end.stored.released >= seen && end.stored.step > 0 && end.stored.step <= end.stored.released, JSON.stringify([end.stored, seen]));
  assert.ok(end.steps >= end.stored.released + 500 && end.steps < PLANNED, String(end.steps));
  assert.deepEqual([end.lost, end.entries, end.left], [end.stored.released - end.stored.step, [["closed", PLANNED]], 0]);
  t.diagnostic(`${seen} steps seen, ${end.stored.step} stored, ${end.lost} lost`);
  assert.deepEqual(page.errors, []);
});

test("a lesson's experiment is done and answers its question, Firefox", { skip: missing }, async (t) => {
  const page = await visit(t, "lab#lesson=noise");
  await page.waitForFunction(() => document.getElementById("lab-sentence")?.textContent && document.getElementById("lab-busy")?.textContent === "" && document.getElementById("lesson-check"));
  const before = await page.evaluate(() => {
    const { disabled } = /** @type {HTMLButtonElement} */ (document.getElementById("lesson-check"));
    document.getElementById("lab-noise")?.click();
    return disabled;
  });
  assert.ok(before, "it could be answered before the noise was drawn");
  await page.waitForFunction(() => !/** @type {HTMLButtonElement} */ (document.getElementById("lesson-check")).disabled);
  await page.evaluate(() => {
    const answer = /** @type {HTMLInputElement} */ (document.getElementById("lesson-answer"));
    answer.value = "1";
    answer.dispatchEvent(new Event("input", { bubbles: true }));
    document.getElementById("lesson-check")?.click();
  });
  await page.waitForFunction(() => /^(Right\.|Your experiment says: )/.test(document.getElementById("lesson-verdict")?.textContent ?? ""));
  assert.deepEqual(page.errors, []);
});
