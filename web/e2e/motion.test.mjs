// A teaching run's pace, what is changed of it while it goes on, and the replay of what it
// told: in the run's view, by the scripting API, and of runs side by side.
import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { eventually, narrow, results, stage, start, wide } from "./browser.mjs";

const { visit } = await stage();

const quick = "data=moons&model.kind=softmax&method=constant&noise_multiplier=1&accountant=rdp&expected_batch_size=64&learning_rate=0.5&max_grad_norm=1&seed=1";
const shot = (page, name) => page.screenshot({ path: path.join(results, `motion-${name}.png`) });
const enter = async (page, id, text) => {
  await page.fill(id, text);
  await page.press(id, "Enter");
};
const stands = (page, id, text) => page.waitForFunction(({ id, text }) => /** @type {HTMLInputElement | null} */ (document.querySelector(id))?.value === text, { id, text });
const step = async (page) => Number((await page.innerText(".progress .steps")).replace(",", "").match(/step (\d+)/)?.[1] ?? 0);

test("a run is slowed, changed and replayed, by hand and by script", async (t) => {
  const page = await visit(t, "#steps=20000&" + quick, { viewport: wide });
  await page.selectOption("#steer-speed", "10");
  await start(page);
  await page.locator("#act-pause").waitFor();
  await page.locator("#run-place", { hasText: /\b(9\d|[1-9]\d{2,})(\.\d+)? ms/ }).waitFor(); // a tenth of a second a step, or more
  const after = await step(page);
  await enter(page, "#steer-max_grad_norm", "3");
  await enter(page, "#steer-noise_multiplier", "-1");
  await page.locator("#steer-fault", { hasText: "noise" }).waitFor();
  await enter(page, "#steer-learning_rate", "0,2");
  await page.locator("#steer-fault").waitFor({ state: "hidden" });
  await stands(page, "#steer-noise_multiplier", "1");
  await page.locator("#act-pause").click();
  await page.locator("#act-step").click();
  await page.locator("#replay-open").click();
  await stands(page, "#steer-learning_rate", "0.2");
  await shot(page, "paused");
  await page.setViewportSize(narrow);
  await shot(page, "paused-narrow");
  await page.setViewportSize(wide);
  await page.selectOption("#steer-speed", "0");
  await start(page);
  await page.locator("#replay").waitFor({ state: "detached" }); // while a run goes on there is nothing to replay
  await page.waitForFunction((n) => Number(document.querySelector(".progress .steps")?.textContent?.replace(",", "").match(/step (\d+)/)?.[1]) > n, after + 100);
  await page.locator("#act-stop").click();
  await page.locator("#result").waitFor();
  await eventually(async () => assert.match(await page.innerText(".guarantee"), /it was changed while it went on, by someone who could see what no ε covers \(max_grad_norm 1 → 3 from step \d+ on, learning_rate 0\.5 → 0\.2/));

  await eventually(async () => assert.deepEqual(await page.locator(".figure-head h2").evaluateAll((all) => all.filter((e) => e.scrollWidth > e.clientWidth || e.clientHeight > 30).map((e) => e.textContent)), [], "titles that are cut"));

  for (let i = 0; i < 8; i++) { // the handle is made anew each time, and stands at the end
    if (i > 0) await page.locator("#replay-open[aria-expanded=true]").click();
    await page.locator("#replay-open[aria-expanded=false]").click();
    await eventually(async () => {
      const [now, most] = await page.locator("#replay-step").evaluate((/** @type {HTMLInputElement} */ e) => [e.value, e.max]);
      assert.equal(now, most);
      assert.ok(Number(most) > 100, "more than a browser's own most");
    });
  }
  const range = page.locator("#replay-step"), said = () => page.innerText("#replay-said"), end = await said();
  await range.focus();
  await page.keyboard.press("Home");
  await eventually(async () => assert.match(await said(), /Step 1 of [\d,]+ accuracy .* %, C 1, \d+ % clipped, ε \d/));
  await eventually(async () => assert.equal(await range.getAttribute("aria-valuetext"), (await said()).replace(/ accuracy/, ": accuracy")));
  assert.equal(await range.getAttribute("aria-label"), "Step that is shown");
  const replayed = (/** @type {boolean} */ whole) => page.waitForFunction(([end, whole]) => (document.getElementById("replay-said")?.innerText === end) === whole, /** @type {const} */ ([end, whole]));
  await page.keyboard.press("End");
  await replayed(true);
  await page.keyboard.press("ArrowLeft");
  await replayed(false);
  await eventually(async () => assert.match(await said(), /C 3/));
  await page.keyboard.press("Home");
  await page.selectOption("#replay-speed", "0");
  await page.locator("#replay-play").click();
  await page.locator("#replay-play[aria-label=Pause]").waitFor();
  await shot(page, "replay");
  await page.locator("#replay-said", { hasText: "Step 1 of" }).waitFor({ state: "hidden" });
  await range.focus();
  await page.keyboard.press("End");
  await page.locator("#replay-play[aria-label=Play]").waitFor(); // at the end there is nothing to play
  await replayed(true);
  for (const { viewport, colorScheme } of /** @type {const} */ ([{ viewport: wide, colorScheme: "dark" }, { viewport: narrow, colorScheme: "light" }, { viewport: narrow, colorScheme: "dark" }])) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    await page.keyboard.press("Escape");
    await page.locator("#replay").scrollIntoViewIfNeeded();
    await shot(page, `${viewport.width}-${colorScheme}`);
    if (viewport !== narrow) continue;
    await eventually(async () => {
      const box = await page.locator("#replay-step").boundingBox();
      assert.ok(box && box.height >= 44 && box.x >= 0 && box.x + box.width <= narrow.width, "the handle is there for a thumb");
    });
  }

  // The same by the scripting API, which says what cannot be changed.
  const told = await page.evaluate(async () => {
    const data = await clipscope.open("moons"); // one worker for all of them
    const config = { data: "moons", model: { kind: "softmax" }, noise_multiplier: 1, accountant: "rdp", expected_batch_size: 64, steps: 60, learning_rate: 0.5, max_grad_norm: 1, seed: 1 };
    const why = (e) => [e.detail?.field, e.message];
    const paced = async (config, change) => {
      const run = await clipscope.train(config, data, { paused: true });
      const events = [];
      run.on((e) => events.push(e));
      let reply;
      for (let i = 0; i < 5; i++) {
        const told = new Promise((resolve) => { const off = run.on((e) => { off(); resolve(e); }); });
        run.step();
        await told;
      }
      try { reply = await run.change(change); } catch (e) { reply = why(e); }
      run.resume();
      const result = await run.done;
      const late = await run.change(change).catch((e) => e.message);
      return { reply, late, changes: result.changes, epsilon: result.epsilon, parameters: Array.from(result.released.parameters), marked: events.filter((e) => e.changes).map((e) => e.step) };
    };
    const run = await clipscope.train(config, data);
    let wrong;
    try { run.pace(-1); } catch (e) { wrong = e.message; }
    run.pace(0.01);
    run.stop(); // it waits for no step
    await run.done;
    return {
      wrong,
      one: await paced(config, { max_grad_norm: 3, noise_multiplier: 0.5 }),
      two: await paced(config, { max_grad_norm: 3, noise_multiplier: 0.5 }),
      quiet: await paced(config, { max_grad_norm: 1 }),
      private: await paced({ ...config, seed: undefined }, { learning_rate: 1 }),
      rule: await paced({ ...config, method: "quantile" }, { max_grad_norm: 2 }),
      none: await paced(config, { max_grad_norm: NaN }),
    };
  });
  assert.match(told.wrong, /greater than 0/);
  assert.deepEqual(told.one.parameters, told.two.parameters);
  assert.deepEqual(told.one.changes, [{ step: 6, field: "max_grad_norm", from: 1, to: 3 }, { step: 6, field: "noise_multiplier", from: 1, to: 0.5 }]);
  assert.deepEqual(told.one.marked, [6]);
  assert.equal(told.one.reply.epsilon, told.one.epsilon);
  assert.ok(told.one.epsilon > told.quiet.epsilon);
  assert.match(told.one.late, /has ended/);
  assert.equal(told.quiet.changes, undefined);
  assert.notDeepEqual(told.one.parameters, told.quiet.parameters);
  assert.match(told.private.reply.join(), /^seed,.*teaching/);
  assert.match(told.rule.reply.join(), /^max_grad_norm,.*rule/);
  assert.match(told.none.reply.join(), /^max_grad_norm,.*NaN is no finite number/);
  assert.deepEqual(page.errors, []);
});

test("runs side by side are slowed, changed and replayed together", async (t) => {
  const page = await visit(t, "lab#lab.lanes=max_grad_norm=0.1,1&steps=50000&" + quick, { viewport: wide });
  await page.waitForFunction(() => document.getElementById("lab-sentence")?.textContent); // the page above grows until then, and a press may come to nothing
  await page.selectOption("#lanes-steer-speed", "100");
  await page.locator("#lanes-start").click();
  await stands(page, "#lanes-steer-max_grad_norm", ""); // once both go on
  await page.locator("#lanes-steer-max_grad_norm[placeholder=differs]").waitFor();
  await page.selectOption("#lanes-target", "1");
  await stands(page, "#lanes-steer-max_grad_norm", "1");
  await page.selectOption("#lanes-target", { label: "all that train now" });
  await stands(page, "#lanes-steer-max_grad_norm", "");
  await page.selectOption("#lanes-target", "1");
  await stands(page, "#lanes-steer-max_grad_norm", "1");
  await enter(page, "#lanes-steer-max_grad_norm", "5");
  await stands(page, "#lanes-steer-max_grad_norm", "5");
  await page.waitForFunction(() => [...document.querySelectorAll("#lanes-table tbody tr")].every((row) => Number(row.textContent?.match(/step (\d+) of/)?.[1]) >= 20));
  await page.locator("#lanes-stop").click();
  await page.locator("#lanes-again").waitFor();
  await eventually(async () => assert.match(await page.innerText("#lanes-table"), /stopped at step/));
  await page.locator("#replay-open").click();
  await page.focus("#replay-step");
  await page.keyboard.press("Home");
  await page.locator("#replay-said", { hasText: "0.1: " }).waitFor();
  await page.keyboard.press("PageUp");
  await page.locator("#replay-said", { hasText: /Step (?!1 )[\d,]+ of [\d,]+ 0\.1: accuracy .*; 1: accuracy .*, C [15]/ }).waitFor();
  await page.locator("#lanes").scrollIntoViewIfNeeded();
  await shot(page, "lanes");
  assert.deepEqual(page.errors, []);
});
