// What the page offers of training beside clipping: a rate that moves is a chart, a released value ends a run, classes have
// weights, and a model of numbers shows what it answered.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, leavable, stage, start, train, wide } from "./browser.mjs";

const { visit } = await stage();

const titles = (page) => page.locator(".figure-head h2").allInnerTexts();

test("a rate that moves is a chart, and a released value ends the run", async (t) => {
  const page = await visit(t, "#data=moons&model.kind=softmax&method=dc-e&noise_multiplier=1&accountant=rdp&expected_batch_size=64&seed=1&steps=200", { viewport: wide });
  await eventually(async () => assert.ok((await titles(page)).includes("Privacy cost")));
  assert.ok(!(await titles(page)).includes("Learning rate"), "a rate that stays is no chart");
  await page.evaluate(() => { location.hash += "&learning_rate_schedule=cosine&early_stopping.monitor=max_grad_norm&early_stopping.patience=5&early_stopping.min_delta=0.9"; });
  await eventually(async () => assert.ok((await titles(page)).includes("Learning rate")));
  await start(page);
  await page.locator("#result", { hasText: /10 of 200, at rest/ }).waitFor();
  await page.locator("#result", { hasText: /Early stopping ended the run after step 10: .* max_grad_norm, which is released/ }).waitFor();
  assert.match(await page.innerText("#panel-epsilon"), /public/);
});

test("where a run ends, a press that was meant for Pause starts no other", async (t) => {
  const page = await visit(t, "#data=moons&model.kind=softmax&noise_multiplier=1&accountant=rdp&expected_batch_size=64&seed=1&steps=4000", { viewport: wide });
  await eventually(async () => assert.ok(await page.locator("#act-start").isEnabled()));
  // What a press would meet at the moment at which the label changes.
  const met = page.evaluate(() => new Promise((done) => {
    new MutationObserver((_, observer) => {
      const b = document.querySelector("#act-start"), r = b?.getBoundingClientRect();
      if (b?.textContent !== "New run") return;
      observer.disconnect();
      done(b.contains(document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2)));
    }).observe(document.querySelector("#runbar"), { subtree: true, childList: true, characterData: true, attributes: true });
  }));
  await start(page);
  assert.equal(await met, false);
  await page.locator("#act-start", { hasText: "New run" }).click();
  await page.locator("#act-pause").waitFor();
});

test("a script has the same, and is told why a value is not watched", async (t) => {
  const page = await visit(t, "");
  const config = { data: "digits", method: "constant", target_epsilon: 2, steps: 60, expected_batch_size: 64, early_stopping: { monitor: "noisy_grad_norm", patience: 4, min_delta: 0.99 }, class_weights: { 3: 2, 7: 0.5 } };
  const { events, result } = await train(page, config);
  assert.equal(result.steps, 8);
  assert.ok(result.stopped && result.epsilon > result.epsilon_at_step, "all planned steps are charged");
  assert.ok(events.every((e) => e.released.learning_rate > 0));
  assert.match(result.guarantee, /weights of classes.*2 for "3", 0\.5 for "7"/);
  for (const [change, said] of /** @type {const} */ ([
    [{ early_stopping: { monitor: "test_loss" } }, /no released value "test_loss"/],
    [{ early_stopping: { monitor: "max_grad_norm" } }, /does not follow released values/],
    [{ class_weights: { eleven: 2 } }, /no class "eleven"/],
    [{ tuning: { runs: 3, scored_by: "roc_auc" }, early_stopping: undefined }, /no proof of a choice by "roc_auc"/],
  ])) await assert.rejects(train(page, { ...config, ...change }), said);
});

test("dropout is in the address, drops the same units on every back end, and is refused where nothing can be dropped", async (t) => {
  const page = await visit(t, "#data=digits&model.kind=mlp&model.hidden=8&model.dropout=0.25&steps=5", { viewport: wide });
  await page.locator("#card-model .card-head", { hasText: "dropout 0.25" }).waitFor();
  const model = { kind: "mlp", hidden: [8], dropout: 0.5 };
  const config = { data: "digits", model, method: "constant", no_privacy: true, noise_multiplier: 0, learning_rate: 0.5, max_grad_norm: 1, steps: 20, expected_batch_size: 64, seed: 1 };
  /** @param {object} c */
  const ends = (c) => page.evaluate(async (c) => [...(await (await window.clipscope.train(c)).done).released.parameters], c);
  const trained = [];
  for (const on of [{ backend: "purego" }, { backend: "simd", threads: 1 }, { backend: "simd", threads: 2 }]) trained.push(await ends({ ...config, ...on }));
  const plain = await ends({ ...config, model: { ...model, dropout: 0 } });
  /** @param {ArrayLike<number>} v */
  const apart = (v) => Math.max(...Array.from(v, (x, i) => Math.abs(x - trained[0][i])));
  assert.ok(apart(trained[1]) < 1e-5 && apart(trained[2]) < 1e-5, `${apart(trained[1])}, ${apart(trained[2])}`);
  assert.ok(apart(plain) > 1e-3);
  for (const [change, said] of /** @type {const} */ ([
    [{ model: { ...model, dropout: 1 } }, /dropout of 1 is not in/],
    [{ model: { kind: "softmax", dropout: 0.1 } }, /no activation .* behind which/],
    [{ method: "value", noise_multiplier: 1 }, /take 0, or another method/],
  ])) await assert.rejects(train(page, { ...config, ...change }), said);
});

test("a model of numbers shows its answers and residuals, of which nothing is kept", async (t) => {
  const page = await visit(t, "#data=regression-vc&steps=20", { viewport: wide });
  await start(page);
  await page.locator("#result").waitFor();
  await page.locator("#scores > summary").click();
  await page.locator("#fitted canvas").nth(1).waitFor();
  await page.locator("#runs", { hasText: "Runs 1" }).waitFor();
  await leavable(page);
  await page.reload();
  await page.locator("#runs", { hasText: "Runs 1" }).click();
  await page.locator(".run-open").first().click();
  await page.locator("#scores > summary").click();
  await page.locator(".score-tables").waitFor();
  assert.equal(await page.locator("#fitted").count(), 0);
});
