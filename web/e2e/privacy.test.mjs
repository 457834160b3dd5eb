// The privacy engine in the page: the calculator, statements, the ledger of a
// data set, the audit.
import assert from "node:assert/strict";
import path from "node:path";
import { after, before, test } from "node:test";
import { launch, open, results, serve } from "./browser.mjs";

let server, browser;
before(async () => {
  server = await serve();
  browser = await launch();
});
after(async () => {
  await browser?.close();
  server?.close();
});

const wide = { width: 1280, height: 800 }, narrow = { width: 390, height: 844 };

async function visit(t, where, options = {}) {
  const context = await browser.newContext({ viewport: wide, acceptDownloads: true, ...options });
  t.after(() => context.close());
  return open(context, server.url + where);
}

// --- the calculator ---

const figure = (page, name) => page.locator("#answer .headline > div", { has: page.locator("dt", { hasText: new RegExp(`^${name}$`) }) }).locator("dd.figure");
const settled = (page) => page.waitForFunction(() => document.querySelector(".headline") && !document.querySelector(".answer-box.pending"));

test("the calculator answers in all four directions and keeps the question in its address", async (t) => {
  const page = await visit(t, "calculator#noise_multiplier=1.1&rows=60000&expected_batch_size=256&steps=14062");
  await settled(page);
  // PRV's bounds are 2.37146 … 2.39174.
  const epsilon = Number(await figure(page, "ε").innerText());
  assert.ok(epsilon > 2.371 && epsilon < 2.392, `ε = ${epsilon}`);
  assert.match(await page.locator("#answer .bracket").innerText(), /RDP shows 2\.59\d* .*GDP says 2\.32\d*, which is no bound/);
  assert.match(await page.locator("#tuning .cheapest").innerText(), /cheapest/);
  for (const [id, what, low, high] of [["noise_multiplier", "σ", 1.099, 1.102], ["steps", "T", 14000, 14200], ["sample_rate", "q", 0.00425, 0.00429]]) {
    await page.locator(`#s-solve-${id}`).check({ force: true });
    await settled(page);
    const value = Number((await figure(page, what).innerText()).replaceAll(",", ""));
    assert.ok(value >= low && value <= high, `${what} = ${value}, want ${low} … ${high}`);
  }
  assert.match(page.url(), /solve=sample_rate/);
  await page.reload();
  await settled(page);
  assert.ok(await page.locator("#s-solve-sample_rate").isChecked());
  assert.deepEqual(page.errors, []);
});

test("the calculator shows the newest answer however fast its fields change", async (t) => {
  const page = await visit(t, "calculator");
  await settled(page);
  const field = page.locator("#f-noise_multiplier");
  for (const sigma of ["0.9", "3", "0.7", "2", "1.3"]) await field.fill(sigma);
  await settled(page);
  assert.equal(await figure(page, "σ").innerText(), "1.3");
  const shown = Number(await figure(page, "ε").innerText());
  const want = await page.evaluate(() => clipscope.epsilon({ noise_multiplier: 1.3, sample_rate: 256 / 60000, steps: 3516, target_delta: 1e-5 }));
  assert.ok(Math.abs(shown / want - 1) < 1e-3, `${shown} is shown, ${want} is right`);
  await field.fill("none");
  await page.locator("#f-noise_multiplier-fault", { hasText: "not a number" }).waitFor();
  await field.fill("1");
  await settled(page);
  assert.deepEqual(page.errors, []);
});

for (const [name, viewport] of [["wide", wide], ["narrow", narrow]]) {
  for (const colorScheme of ["light", "dark"]) {
    test(`the calculator fits, ${name} ${colorScheme}`, async (t) => {
      const page = await visit(t, "calculator", { viewport, colorScheme });
      await settled(page);
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(over <= 0, `${over} pixels too wide`);
      await page.screenshot({ path: path.join(results, `calculator-${name}-${colorScheme}.png`), fullPage: true });
    });
  }
}

test("δ, reports, curves, tuning and calibration from a script", async (t) => {
  const page = await visit(t, "calculator");
  const r = await page.evaluate(async () => {
    const run = { noise_multiplier: 1.1, sample_rate: 0.01, steps: 1000, target_delta: 1e-5 };
    const report = await clipscope.report(run);
    return {
      report, delta: await clipscope.delta({ ...run, epsilon: report.pld }),
      steps: await clipscope.curve(run), profile: await clipscope.curve({ ...run, over: "epsilon", points: 9 }),
      tuning: await clipscope.tuning({ ...run, runs: 10 }), nothing: await clipscope.report({ ...run, noise_multiplier: 0 }),
      rate: await clipscope.calibrate({ target_epsilon: report.pld, target_delta: 1e-5, noise_multiplier: 1.1, steps: 1000 }),
      bad: await clipscope.curve({ ...run, over: "time" }).catch((e) => e.detail.field),
    };
  });
  assert.ok(r.report.pld_lower_bound <= r.report.pld && r.report.pld <= r.report.rdp);
  assert.ok(Math.abs(r.delta / 1e-5 - 1) < 0.03, `δ = ${r.delta}`);
  assert.equal(r.steps.steps.at(-1), 1000);
  assert.ok(Math.abs(r.steps.epsilon.at(-1) - r.report.pld) < 1e-9);
  assert.equal(r.profile.delta.length, 9);
  assert.ok(r.tuning[r.tuning.cheapest] <= r.tuning.composition_pld);
  assert.equal(r.nothing.pld, Infinity);
  assert.ok(Math.abs(r.rate.sample_rate / 0.01 - 1) < 0.01 && r.rate.epsilon <= r.report.pld);
  assert.equal(r.bad, "over");
});
