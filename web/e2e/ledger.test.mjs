// What runs on files spend: the ledger, stopped runs and blind ones.
import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { eventually, narrow, open, ready, results, stage, STILL, wide } from "./browser.mjs";

const { server, visit, alone } = await stage();

const table = (rows, salt = 0) => "width,height,kind\n" + Array.from({ length: rows }, (_, i) => `${(i * 7) % 17 + salt / 8},${(i * 5) % 13},${i % 2}`).join("\n") + "\n";

// Tables of one salt have rows in common and are one data set, those of two have none.
// A run on a table in a page, with everything that a test may want to know.
const config = { model: { kind: "softmax" }, method: "constant", noise_multiplier: 1, max_grad_norm: 1, target_delta: 1e-5, expected_batch_size: 40, steps: 30, learning_rate: 0.1, scaling: { kind: "declared", lo: 0, hi: 20 } };
const tableRun = (page, text, change = {}, options = {}) => page.evaluate(async ([text, config, options]) => {
  const run = await clipscope.train(config, { train: [new File([text], "table.csv")] }, options);
  const { statement, ...result } = await run.done;
  return { statement, result, plan: run.plan };
}, [text, { ...config, ...change }, options]);
const entries = (page) => page.evaluate(() => clipscope.ledger.entries());
// total asks what a table has cost.
const total = (page, text) => page.evaluate(async (text) => {
  const data = await clipscope.open({ train: [new File([text], "again.csv")] });
  try {
    return await clipscope.ledger.total(data);
  } finally {
    data.close();
  }
}, text);
const epsilonOf = (page, plan, steps) => page.evaluate(([q, sigma, steps]) => clipscope.epsilon({ sample_rate: q, noise_multiplier: sigma, steps, target_delta: 1e-5 }), [plan.sample_rate, plan.noise_multiplier, steps]);
const near = (a, b) => Math.abs(a - b) <= 2e-3 * b + 1e-6;

test("the ledger charges what was planned and composes runs", async (t) => {
  const page = await visit(t, "", { serviceWorkers: "allow" });
  const a = await tableRun(page, table(400));
  assert.equal(a.statement.ledger.runs, 1);
  const first = await epsilonOf(page, a.plan, 30);
  assert.ok(near(a.statement.ledger.epsilon, first), `${a.statement.ledger.epsilon} is charged, ${first} was spent`);
  const b = await tableRun(page, table(400));
  const both = await epsilonOf(page, a.plan, 60);
  assert.ok(near(b.statement.ledger.epsilon, both), `${b.statement.ledger.epsilon} is charged, ${both} was spent`);
  assert.match(b.statement.text, /in 2 runs so far/);
  // Another table has a budget of its own; built-in data have none; a run without noise
  // costs ∞.
  assert.equal((await total(page, table(400, 1))).epsilon, 0);
  await tableRun(page, table(400, 1), { method: "none", noise_multiplier: undefined }, { anyway: true });
  const other = await total(page, table(400, 1));
  assert.deepEqual([other.epsilon, other.guaranteed_epsilon, other.runs.length, other.unprotected], [Infinity, 0, 1, 1]);
  await page.evaluate(async (config) => (await clipscope.train({ ...config, data: "moons", scaling: undefined })).done, config);
  const list = await entries(page);
  assert.deepEqual(list.map((e) => [e.data, e.charged, e.state]), [[1, 30, "closed"], [1, 30, "closed"], [2, 0, "closed"]]);
  await page.reload();
  await ready(page);
  assert.ok(near((await total(page, table(400))).epsilon, both), "the ledger survives a reload");
  assert.deepEqual(page.errors, []);
});

test("a tuning is charged to its test rows as well", async (t) => {
  const page = await visit(t, STILL);
  const r = await page.evaluate(async ([a, b, tests, config]) => {
    const files = (train) => ({ train: [new File([train], "table.csv")], test: [new File([tests], "other.csv")] });
    const tuned = { ...config, noise_multiplier: 4, tuning: { runs: 1, learning_rate: [0.1], max_grad_norm: [1] } };
    const run = await clipscope.train(tuned, files(a));
    await run.done;
    const data = await clipscope.open(files(b)), alone = await clipscope.open({ train: [new File([tests], "t.csv")] });
    try {
      return { next: (await clipscope.ledger.total(data, { ...run.plan.events, steps: 0, tested: true })).runs.length,
        plain: (await clipscope.ledger.total(data)).runs.length, trained: (await clipscope.ledger.total(alone)).runs.length };
    } finally {
      data.close();
      alone.close();
    }
  }, [table(400), table(400, 1), table(200, 2), config]);
  assert.deepEqual(r, { next: 1, plain: 0, trained: 1 });
  assert.deepEqual(page.errors, []);
});

test("the same table read in another way is the same data", async (t) => {
  const page = await visit(t, STILL);
  const a = await tableRun(page, table(400));
  const b = await tableRun(page, table(400), { csv: { label: "height", task: "regression" }, model: { kind: "linear" } });
  assert.equal(b.statement.ledger.runs, 2);
  assert.ok(b.statement.ledger.epsilon > a.statement.ledger.epsilon);
});

test("an entry is written before the first step, and a stopped run is charged for what it planned", async (t) => {
  const page = await visit(t, STILL);
  const r = await page.evaluate(async ([text, config]) => {
    const run = await clipscope.train({ ...config, steps: 100000 }, { train: [new File([text], "table.csv")] }, { paused: true });
    let events = 0;
    run.on(() => events++);
    const before = (await clipscope.ledger.entries())[0], state = run.state;
    const seen = new Promise((resolve) => run.on((e) => { if (e.step >= 20) resolve(e); }));
    run.resume();
    await seen;
    const during = (await clipscope.ledger.entries())[0];
    run.stop();
    const result = await run.done;
    const { statement, released, ...said } = result;
    return { before, state, during, said, statement, after: (await clipscope.ledger.entries())[0], plan: run.plan };
  }, [table(400), config]);
  assert.equal(r.state, "paused");
  assert.deepEqual([r.before.charged, r.before.state, r.before.done], [100000, "running", 0]);
  assert.equal(r.during.charged, 100000);
  const { said, statement } = r;
  assert.ok(said.stopped && said.steps >= 20 && said.steps < 100000);
  assert.deepEqual([r.after.charged, r.after.done, r.after.state], [100000, said.steps, "closed"]);
  assert.ok(near(statement.ledger.epsilon, await epsilonOf(page, r.plan, 100000)), `${statement.ledger.epsilon} is charged`);
  // Result and statement quote the plan's ε; the step's is beside it.
  assert.equal(said.planned_steps, 100000);
  assert.equal(said.epsilon, r.plan.epsilon);
  assert.ok(said.epsilon_at_step > 0 && said.epsilon_at_step < said.epsilon / 2, `${said.epsilon_at_step} at the step, ${said.epsilon} in all`);
  assert.match(said.guarantee, /is charged all 100000; had \d+ been fixed beforehand, ε would be/);
  assert.deepEqual([statement.stopped, statement.blind, statement.planned_steps, statement.steps, statement.events[0].count], [true, false, 100000, said.steps, 100000]);
  assert.ok(near(statement.epsilon, said.epsilon) && statement.epsilon_at_step < statement.epsilon / 2);
  assert.match(statement.text, /no ε covers/);
});

test("a run that was never let go costs nothing, one that was costs its plan", async (t) => {
  const page = await visit(t, STILL);
  const charged = async () => (await entries(page)).map((e) => [e.charged, e.state]);
  await page.evaluate(async ([text, config]) => {
    const data = globalThis.kept = await clipscope.open({ train: [new File([text], "table.csv")] });
    (await clipscope.train(config, data, { paused: true })).dispose();
  }, [table(400), config]);
  await eventually(async () => assert.deepEqual(await charged(), [[0, "closed"]]));
  await page.evaluate(async (config) => {
    const stepped = await clipscope.train(config, globalThis.kept, { paused: true });
    const step = new Promise((resolve) => stepped.on(resolve));
    stepped.step();
    await step;
    stepped.dispose();
  }, config);
  await eventually(async () => assert.deepEqual(await charged(), [[0, "closed"], [30, "closed"]]));
});

test("a blind run shows no diagnostic until it has ended", async (t) => {
  const page = await visit(t, STILL);
  const r = await page.evaluate(async ([text, config]) => {
    const run = await clipscope.train({ ...config, method: "dc-e", blind: true, steps: 100000 }, { train: [new File([text], "table.csv")] });
    const events = [], texts = [];
    run.onText((t) => texts.push(t));
    await new Promise((resolve) => run.on((e) => { if (events.push(e) >= 30) resolve(e); }));
    run.stop();
    const result = await run.done;
    return { events, texts: texts.join(""), stopped: result.stopped, blind: result.blind, accuracy: result.test_accuracy, statement: result.statement, last: events.at(-1) };
  }, [table(400), config]);
  assert.ok(r.events.length >= 30 && r.events.every((e) => e.diagnostic === undefined && e.released.noisy_grad_norm > 0));
  assert.doesNotMatch(r.texts, /diagnostic|train_loss|accuracy|clip_fraction"|batch_size/);
  assert.ok(r.stopped && r.blind && r.accuracy >= 0 && r.accuracy <= 1);
  assert.equal(r.statement.blind, true);
  assert.match(r.statement.text, /hidden until the end, so nothing but released values could decide when to stop/);
});

// --- images ---

// idx is a pair of IDX files of n images of two by two pixels; cifar a batch.
const idx = (n, seed) => {
  const images = [0, 0, 8, 3, 0, 0, 0, n, 0, 0, 0, 2, 0, 0, 0, 2], labels = [0, 0, 8, 1, 0, 0, 0, n];
  for (let i = 0; i < n; i++) {
    images.push((i * seed) % 256, (i * i) % 256, seed, (3 * i) % 256);
    labels.push((i + seed) % 3);
  }
  return [["train-images-idx3-ubyte", images], ["train-labels-idx1-ubyte", labels]];
};
const cifar = (name, n, seed) => [name, Array.from({ length: n }, (_, i) => [i % 10, ...new Array(3072).fill((i * seed) % 256)]).flat()];

test("the ledger recognises images by their files", async (t) => {
  const page = await visit(t, STILL);
  const runs = (files, csv) => page.evaluate(async ([files, csv, config]) => {
    const train = files.map(([name, bytes]) => new File([new Uint8Array(bytes)], name));
    const run = await clipscope.train({ ...config, scaling: undefined, expected_batch_size: 5, steps: 3, csv }, { train });
    return (await run.done).statement.ledger.runs;
  }, [files, csv, config]);
  assert.equal(await runs(idx(60, 5), {}), 1);
  assert.equal(await runs(idx(60, 5), { test_share: 0.5 }), 2, "other rows of the same images are held out");
  assert.equal(await runs(idx(60, 12), {}), 1, "other images");
  const one = cifar("data_batch_1.bin", 30, 3), two = cifar("data_batch_2.bin", 30, 7);
  assert.equal(await runs([one, two], {}), 1);
  assert.equal(await runs([one], {}), 2, "one batch of the two");
  assert.equal(await runs([two], {}), 3, "and the other");
});

test("every run without a guarantee is asked about where there is a limit", async (t) => {
  const page = await visit(t, STILL);
  const r = await page.evaluate(async ([text, config]) => {
    await clipscope.ledger.limit({ epsilon: 1000 });
    const data = await clipscope.open({ train: [new File([text], "table.csv")] });
    const refused = [];
    for (const change of [{ method: "none", noise_multiplier: undefined }, { seed: 1 }, { scaling: { kind: "measured" } }]) {
      refused.push(await clipscope.train({ ...config, ...change }, data).then(() => ({}), (e) => ({ ...e.detail, message: e.message })));
    }
    const ran = (await (await clipscope.train({ ...config, method: "none", noise_multiplier: undefined }, data, { anyway: true })).done).steps;
    await clipscope.ledger.limit(null);
    return { refused, ran, free: (await (await clipscope.train(config, data)).done).steps };
  }, [table(400), config]);
  for (const f of r.refused) {
    assert.equal(f.kind, "limit");
    assert.equal(f.next_epsilon, Infinity);
    assert.match(f.message, /carries no guarantee.*your limit is 1000/);
  }
  assert.deepEqual([r.ran, r.free], [30, 30]);
});

test("a tab that ends in mid-run is charged in full", async (t) => {
  const page = await visit(t, STILL);
  const plan = await page.evaluate(async ([text, config]) => {
    const run = await clipscope.train({ ...config, steps: 5000, noise_multiplier: 30 }, { train: [new File([text], "table.csv")] }, { paused: true });
    Object.assign(window, { run });
    const step = new Promise((resolve) => run.on(resolve));
    run.step();
    await step;
    return run.plan;
  }, [table(400), config]);
  const next = await open(page.context(), server.url);
  assert.equal((await entries(next))[0].state, "running");
  await page.close();
  await eventually(async () => assert.equal((await entries(next))[0].state, "lost"));
  const spent = await total(next, table(400));
  assert.ok(near(spent.epsilon, await epsilonOf(next, plan, 5000)), `${spent.epsilon}`);
  assert.equal(spent.open, 1);
  assert.match(spent.text, /charged for all of its planned steps.*1 of them has not ended/);
});

test("a worker that ends in mid-run is charged for its plan", async (t) => {
  const page = await visit(t, STILL);
  const last = await page.evaluate(async ([text, config]) => {
    const run = await clipscope.train({ ...config, steps: 1_000_000 }, { train: [new File([text], "table.csv")] });
    let last = 0;
    await new Promise((resolve) => run.on((e) => { if ((last = e.step) >= 50) resolve(e); }));
    run.dispose(); // ends the worker
    return last;
  }, [table(400), config]);
  await eventually(async () => {
    const [{ state, charged, done }] = await entries(page);
    assert.deepEqual([state, charged], ["closed", 1_000_000]);
    assert.ok(done >= last && done < 1_000_000, `${done} steps are noted, ${last} were seen`);
  });
});

test("two tabs at once lose nothing, and cannot go over the limit together", async (t) => {
  const page = await visit(t, STILL);
  const other = await open(page.context(), server.url);
  const [a, b] = await Promise.all([tableRun(page, table(400)), tableRun(other, table(400))]);
  const both = await epsilonOf(page, a.plan, 60);
  assert.ok(near((await total(page, table(400))).epsilon, both));
  assert.ok(near(Math.max(a.statement.ledger.epsilon, b.statement.ledger.epsilon), both));
  // Room for one more run, not for two.
  const limit = await epsilonOf(page, a.plan, 100);
  await page.evaluate((epsilon) => clipscope.ledger.limit({ epsilon }), limit);
  const ends = await Promise.allSettled([tableRun(page, table(400)), tableRun(other, table(400))]);
  assert.deepEqual(ends.map((e) => e.status).sort(), ["fulfilled", "rejected"]);
  assert.match(ends.find((e) => e.status === "rejected").reason.message, /more than your limit/);
  assert.equal((await entries(other)).length, 3);
});

test("without locks runs at once cannot go over the limit together either", async (t) => {
  const context = await alone(t);
  await context.addInitScript(() => Object.defineProperty(navigator, "locks", { value: undefined }));
  const page = await open(context, server.url), other = await open(context, server.url);
  const a = await tableRun(page, table(400));
  const limit = await epsilonOf(page, a.plan, 100); // room for two more runs
  await page.evaluate((epsilon) => clipscope.ledger.limit({ epsilon }), limit);
  const ends = await Promise.allSettled([page, other, page, other].map((p) => tableRun(p, table(400))));
  assert.equal(ends.filter((e) => e.status === "fulfilled").length, 2, ends.map((e) => (e.status === "rejected" ? e.reason.message : e.status)).join("; "));
  assert.ok((await total(page, table(400))).epsilon <= limit * 1.001);
  assert.deepEqual([...page.errors, ...other.errors], []);
});

test("the limit asks, and can be overruled; a refused run costs nothing and leaves its data open", async (t) => {
  const page = await visit(t, STILL);
  const r = await page.evaluate(async ([text, config]) => {
    await clipscope.ledger.limit({ epsilon: 0.5 });
    const data = await clipscope.open({ train: [new File([text], "table.csv")] });
    const refused = await clipscope.train(config, data).catch((e) => ({ message: e.message, ...e.detail }));
    const none = await clipscope.ledger.entries();
    const run = await clipscope.train(config, data, { anyway: true });
    await run.done;
    const out = { refused, none: none.length, charged: (await clipscope.ledger.entries())[0].charged };
    const bad = await clipscope.ledger.limit({ epsilon: -1 }).catch((e) => e.detail.field);
    await clipscope.ledger.limit(null);
    return { ...out, bad, limit: await clipscope.ledger.limit(), free: (await (await clipscope.train(config, data)).done).steps };
  }, [table(400), config]);
  assert.equal(r.refused.kind, "limit");
  assert.ok(r.refused.next_epsilon > 0.5 && r.refused.epsilon === 0);
  assert.deepEqual([r.none, r.charged, r.bad, r.limit, r.free], [0, 30, "limit", null, 30]);
});

test("the ledger can be exported, without names of data, and deleted", async (t) => {
  const page = await visit(t, STILL);
  await tableRun(page, table(400));
  await tableRun(page, table(300, 1));
  const r = await page.evaluate(async (text) => {
    const text1 = await clipscope.ledger.export();
    const data = await clipscope.open({ train: [new File([text], "t.csv")] });
    let changes = 0;
    clipscope.ledger.on(() => changes++);
    await clipscope.ledger.forget(data);
    const left = await clipscope.ledger.entries();
    await clipscope.ledger.forget();
    return { text: text1, left: left.length, none: (await clipscope.ledger.entries()).length, changes };
  }, table(400));
  const made = JSON.parse(r.text);
  assert.equal(made.runs.length, 2);
  assert.equal(made.runs[0].per_step.kind, "poisson_sampled");
  assert.ok(made.runs[0].per_step.float_values > 0);
  assert.doesNotMatch(r.text, /"names"|[0-9a-f]{64}/);
  assert.deepEqual([r.left, r.none], [1, 0]);
  assert.ok(r.changes >= 2);
});

test("without storage no run on files starts by itself", async (t) => {
  const context = await alone(t);
  await context.addInitScript(() => { indexedDB.open = () => { throw new Error("storage is off"); }; });
  const page = await open(context, server.url);
  const r = await page.evaluate(async ([text, config]) => {
    const files = () => ({ train: [new File([text], "table.csv")] });
    const refused = await clipscope.train(config, files()).catch((e) => ({ message: e.message, kind: e.detail.kind }));
    const result = await (await clipscope.train(config, files(), { anyway: true })).done;
    return { refused, notes: result.notes, steps: result.steps };
  }, [table(400), config]);
  assert.equal(r.refused.kind, "ledger");
  assert.equal(r.steps, 30);
  assert.match(r.notes.join(" "), /not counted/);
});

const tableFile = (rows) => ({ name: "table.csv", mimeType: "text/csv", buffer: Buffer.from(table(rows)) });
const runHash = "#model.kind=softmax&method=constant&noise_multiplier=1&expected_batch_size=40&steps=30&learning_rate=0.1&scaling.kind=declared&scaling.lo=0&scaling.hi=20";

// under waits until a run is under way.
const under = (page) => eventually(async () => assert.ok(Number((await page.locator(".runbar .steps").textContent()).replace(/\D*([\d,]+) \/.*/, "$1").replaceAll(",", "")) > 20));

// pictures are taken of the page, wide and narrow, in the light and in the dark.
/** @param {any} page @param {string} state */
async function pictures(page, state) {
  for (const [name, viewport] of /** @type {const} */ ([["wide", wide], ["narrow", narrow]])) {
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(viewport);
      await page.screenshot({ path: path.join(results, `${state}-${name}-${colorScheme}.png`), fullPage: name === "narrow", animations: "disabled" });
    }
  }
  await page.setViewportSize(wide);
}

test("the page shows the budget of files, asks at the limit, and deletes on request", async (t) => {
  const page = await visit(t, runHash);
  await page.locator("#card-data .card-line", { hasText: "×" }).waitFor({ state: "attached" });
  assert.equal(await page.locator("#ledger").count(), 0, "built-in data has no ledger");
  await page.setInputFiles("#files", tableFile(400));
  await page.locator("#card-data .card-line", { hasText: "table.csv" }).waitFor({ state: "attached" });
  await page.locator("#card-privacy .card-head").click();
  const said = (/** @type {string} */ id) => page.locator(id).innerText();
  await eventually(async () => {
    assert.equal(await said("#ledger-spent"), "0.00");
    assert.match(await said("#ledger-next"), /[1-9]/);
  });
  await page.click("#act-start");
  await page.locator("#statement").waitFor();
  const first = await eventually(async () => {
    assert.equal(await said("#ledger-runs"), "1");
    const first = await said("#ledger-spent");
    assert.match(first, /^[1-9]\.\d\d$/);
    return first;
  });
  await page.locator("#statement summary").click();
  await eventually(async () => assert.match(await said("#statement"), /this data set has spent ε = [\d.]+ at δ = 1e-05 in 1 run so far/));

  await page.fill("#ledger-limit", first);
  await page.locator("#ledger-limit").press("Enter");
  await page.locator("#ledger-limit").blur();
  await page.locator("#ledger-next.over").waitFor();
  await page.click("#act-start");
  await eventually(async () => assert.match(await said("#ledger-ask"), /more than your limit/));
  await page.screenshot({ path: path.join(results, "ledger-ask.png") });
  await page.click("#ask-no");
  await page.locator("#ledger-ask").waitFor({ state: "detached" });
  assert.equal(await said("#ledger-runs"), "1");
  await page.click("#act-start");
  await page.click("#ask-yes");
  await eventually(async () => {
    assert.equal(await said("#ledger-runs"), "2");
    assert.match(await said("#result-spent"), /^Together, the 2 runs on these data have spent ε = [\d.]+ at δ = 1e−5\./);
  });

  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#ledger-export")]);
  assert.equal(download.suggestedFilename(), "clipscope-ledger.json");
  await page.click("#ledger-forget");
  const focused = (/** @type {string} */ id) => page.waitForFunction((id) => document.activeElement?.id === id, id);
  await focused("ledger-keep");
  await page.keyboard.press("Escape");
  await focused("ledger-forget");
  await page.keyboard.press("Enter");
  await page.click("#ledger-delete");
  await eventually(async () => assert.equal(await said("#ledger-runs"), "0"));
  assert.deepEqual(page.errors, []);
});

test("the page charges a stopped run its plan, and asks before one without noise", async (t) => {
  const page = await visit(t, runHash.replace("steps=30", "steps=200000"));
  await page.setInputFiles("#files", tableFile(400));
  await page.locator("#card-data .card-line", { hasText: "table.csv" }).waitFor({ state: "attached" });
  await page.locator("#card-privacy .card-head").click();
  const planned = await eventually(async () => {
    const next = await page.locator("#ledger-next").innerText();
    assert.match(next, /[1-9]/);
    return next;
  });
  await page.click("#act-start");
  await under(page);
  await eventually(async () => assert.match(await page.locator("#panel-epsilon .sentence").innerText(), new RegExp(`charged ε = ${planned} for all 200,000, stopped or not`)));
  await page.click("#act-stop");
  await page.locator("#statement").waitFor();
  await eventually(async () => {
    const figures = await page.locator("#result .result-figures").innerText();
    assert.ok(figures.includes(planned), `${figures} without ${planned}`);
    assert.match(figures, /ε, planned for [\d,]+/);
    assert.match(figures, /of 200,000, stopped/);
    assert.equal(await page.locator("#ledger-runs").innerText(), "1");
    assert.equal(await page.locator("#ledger-spent").innerText(), planned);
  });
  await pictures(page, "stopped");

  await page.fill("#ledger-limit", "1000000");
  await page.locator("#ledger-limit").press("Enter");
  await page.locator("#ledger-limit").blur();
  await page.locator("#s-budget-no_privacy").check({ force: true });
  await page.locator("#ledger-next.over", { hasText: "∞" }).waitFor();
  await page.click("#act-start");
  await page.locator("#ledger-ask", { hasText: "carries no guarantee" }).waitFor();
  await page.screenshot({ path: path.join(results, "ledger-ask-none.png") });
  await page.click("#ask-no");
  await page.locator("#ledger-ask").waitFor({ state: "detached" });
  assert.equal(await page.locator("#ledger-runs").innerText(), "1");
  assert.deepEqual(page.errors, []);
});

test("the page hides diagnostics until the end where that is ticked", async (t) => {
  const page = await visit(t, "#data=digits&model.kind=softmax&method=constant&noise_multiplier=1&expected_batch_size=256&steps=100000");
  await page.locator(".figures").first().waitFor({ state: "attached" });
  await page.locator("#card-privacy .card-head").click();
  await page.locator("#f-blind").check();
  await page.waitForURL(/blind=true/);
  await page.click("#act-start");
  await under(page);
  await eventually(async () => {
    for (const panel of ["clipping", "norms", "learning"]) {
      assert.match(await page.locator(`#panel-${panel} .empty:visible`).first().innerText(), /the run is blind/);
    }
    assert.equal(await page.locator("#panel-epsilon .empty:visible").count(), 0);
    assert.equal(await page.locator("#panel-learning .empty:visible").count(), 2);
  });
  await pictures(page, "blind");
  await page.click("#act-stop");
  await page.locator("#statement").waitFor();
  await page.locator("#statement summary").click();
  await eventually(async () => {
    assert.match(await page.locator("#result .result-figures").innerText(), /test accuracy\s+[\d.]+ %/);
    assert.match(await page.locator("#statement").innerText(), /hidden until the end, so nothing but released values/);
    assert.match(await page.locator("#panel-learning .empty:visible").first().innerText(), /this run was blind/);
  });
  await page.screenshot({ path: path.join(results, "blind-done.png") });
  await page.reload();
  await page.locator("#card-privacy .card-head").click();
  await eventually(async () => assert.ok(await page.locator("#f-blind").isChecked(), "the address keeps it"));
  assert.deepEqual(page.errors, []);
});

// Storage that answers nothing: what a browser has where it is broken, or a window
// is not to leave traces. The clock runs ahead once it is asked, as nobody is that
// patient; not before, or what does answer would be late.
for (const [what, mute] of /** @type {const} */ ([
  ["opened", () => {
    IDBFactory.prototype.open = () => {
      document.documentElement.dataset.asked = "";
      return /** @type {any} */ ({});
    };
  }],
  ["used", () => {
    IDBDatabase.prototype.transaction = () => {
      document.documentElement.dataset.asked = "";
      return /** @type {any} */ ({ objectStore: () => ({ get: () => ({}), put: () => ({}) }), abort() {} });
    };
  }],
])) {
  test(`storage that never answers when it is ${what} ends the waiting, and nothing is trained unasked`, async (t) => {
    const context = await alone(t);
    await context.addInitScript(mute);
    const page = await open(context, server.url);
    await page.clock.install();
    const attempt = async (options) => {
      const outcome = tableRun(page, table(60), { steps: 3 }, options).then(({ result }) => result, (e) => e.message);
      let ended = false;
      outcome.then(() => { ended = true; });
      await eventually(async () => {
        if (await page.locator("html[data-asked]").count()) await page.clock.fastForward(1000);
        assert.ok(ended);
      });
      return outcome;
    };
    assert.match(await attempt(), new RegExp(`The ledger in this browser's storage cannot be ${what} \\(it does not answer\\)`));
    const anyway = await attempt({ anyway: true });
    assert.equal(anyway.steps, 3);
    assert.match(anyway.notes.join("\n"), /What this run spent is not counted: .*does not answer/);
  });
}

test("a tab that holds the ledger for ever does not hold the others", async (t) => {
  const context = await alone(t); // whose clock stands still from here on
  const page = await open(context, server.url), other = await context.newPage();
  await other.goto(server.url);
  await other.evaluate(() => new Promise((held) => navigator.locks.request("clipscope-ledger", () => { held(undefined); return new Promise(() => {}); })));
  await page.clock.install();
  let ended = false;
  const outcome = tableRun(page, table(60), { steps: 3 }).then(() => "", (e) => e.message).finally(() => { ended = true; });
  // It asks for the lock more than once, and in between for the storage, which has
  // less patience than the lock: the clock runs ahead only where the lock is waited for.
  await eventually(async () => {
    const waits = await page.evaluate(async () => (await navigator.locks.query()).pending.some(({ name }) => name === "clipscope-ledger"));
    if (waits) await page.clock.fastForward(10_000);
    assert.ok(ended);
  });
  assert.match(await outcome, /cannot be used \(another tab does not let go of it\)/);
});

test("a full storage is said to be full", async (t) => {
  const page = await visit(t, STILL);
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Storage.overrideQuotaForOrigin", { origin: new URL(server.url).origin, quotaSize: 1 });
  const message = await tableRun(page, table(60), { steps: 3 }).then(() => "", (e) => e.message);
  assert.match(message, /The ledger in this browser's storage cannot be used \(it is full\)\. Free space on this device, or forget/);
});
