// Several threads share a run's work: what comes out is the same to the bit, and
// whatever is done to a run, none of them keeps it waiting or outlives it.
//
// CLIPSCOPE_STOPS=100 does that many things to runs at random moments (8), and
// CLIPSCOPE_STEPS=10000 takes that many steps with memory watched (300).
import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";
import { eventually, host, open, ready, rebundled, root, stage, until } from "./browser.mjs";
import { missing, sharedFirefox } from "./firefox.mjs";

const { server, browser, visit, alone } = await stage("--js-flags=", "--enable-precise-memory-info");
const stops = Number(process.env.CLIPSCOPE_STOPS ?? 8), steps = Number(process.env.CLIPSCOPE_STEPS ?? 300);
const seed = Number(process.env.CLIPSCOPE_SEED ?? 1);

// Both browsers: how each opens the page, hides it, and says how many workers it has.
const firefox = sharedFirefox({ "dom.serviceWorkers.enabled": false }); // which are workers that come and go
const browsers = {
  Chromium: {
    skip: false,
    visit: (t) => visit(t, ""),
    async hide(page, hidden) {
      const cdp = await page.context().newCDPSession(page);
      await cdp.send("Page.setWebLifecycleState", { state: hidden ? "frozen" : "active" });
      await cdp.detach();
    },
    async workers() {
      const cdp = await browser.newBrowserCDPSession();
      const { processInfo } = await cdp.send("SystemInfo.getProcessInfo");
      await cdp.detach();
      return named(processInfo.map(({ id }) => id), /^DedicatedWorker/);
    },
  },
  Firefox: {
    skip: missing,
    async visit() {
      const page = await (await firefox()).page(server.url);
      await ready(page);
      return page;
    },
    hide: (page, hidden) => page.hide(hidden),
    // The page's process is the one with the most: Firefox has workers of its own in others.
    workers: async () => Math.max(...below((await firefox()).pid).map((id) => named([id], /^DOM Worker/))),
  },
};

// named is how many threads of some processes have such a name.
function named(pids, name) {
  return pids.flatMap((id) => {
    try {
      return fs.readdirSync(`/proc/${id}/task`).map((task) => fs.readFileSync(`/proc/${id}/task/${task}/comm`, "utf8"));
    } catch {
      return []; // ended meanwhile
    }
  }).filter((comm) => name.test(comm)).length;
}

// below are the processes that a process started, and those that they did.
function below(pid) {
  const parents = fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name)).flatMap((id) => {
    try {
      return [{ id: Number(id), parent: Number(fs.readFileSync(`/proc/${id}/stat`, "utf8").split(") ").at(-1).split(" ")[1]) }];
    } catch {
      return [];
    }
  });
  const children = (of) => parents.filter(({ parent }) => parent === of).flatMap(({ id }) => [id, ...children(id)]);
  return children(pid);
}

// inBoth tests in both browsers.
/** @param {string} name @param {(t: any, page: any, its: any) => Promise<void>} run */
function inBoth(name, run) {
  for (const [which, its] of Object.entries(browsers)) {
    test(`${name}, ${which}`, { skip: its.skip }, async (t) => run(t, await its.visit(t), its));
  }
}

const mlp = {
  data: "digits", model: { kind: "mlp", hidden: [128] }, noise_multiplier: 1, target_delta: 1e-5,
  expected_batch_size: 96, steps: 6, learning_rate: 0.1, accountant: "rdp", seed: 3,
};

// outcome trains and brings back what there is of a result that several threads
// could have changed, and what it says of them.
const outcome = (page, config) => page.evaluate(async (config) => {
  const result = await (await clipscope.train(config)).done;
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", result.released.parameters));
  return {
    parameters: [...digest].join(" "), thresholds: [...result.released.max_grad_norm], accuracy: result.test_accuracy,
    threads: result.threads, notes: result.notes, backend: result.backend, steps: result.steps,
  };
}, config);

inBoth("runs of one, two, three and five threads end with the same parameters", async (t, page) => {
  assert.ok(await page.evaluate(() => crossOriginIsolated));
  for (const [name, config] of Object.entries({
    "a network": mlp, "adaptive thresholds": { ...mlp, method: "dc-e", optimizer: "adam" }, coordinates: { ...mlp, method: "coordinate" },
    "AdaCliP": { ...mlp, method: "adaclip" }, "convolutions": { ...mlp, model: { kind: "cnn-opacus" }, steps: 3 }, "bounds": { ...mlp, method: "value-tight" },
  })) {
    const alone = await outcome(page, { ...config, threads: 1 });
    assert.equal(alone.threads, 1, name);
    for (const n of name === "a network" || name === "convolutions" ? [2, 3, 5] : [2]) {
      assert.deepEqual(await outcome(page, { ...config, threads: n }), { ...alone, threads: n }, `${name}, ${n} threads`);
    }
  }
  const cores = await page.evaluate(() => Math.min(navigator.hardwareConcurrency, 8));
  assert.equal((await outcome(page, mlp)).threads, cores, "one on each core unless another number is asked for");
  assert.deepEqual(page.errors, []);
});

// threads are how many workers the browser has, where the system tells, once those that
// the page keeps have started.
async function threads(page, its) {
  await page.evaluate(() => clipscope.methods());
  return fs.existsSync("/proc/self/task") ? its.workers() : 0;
}

// settled waits until there are as few workers as there were.
const settled = (page, its, before) => eventually(async () => {
  const now = await threads(page, its);
  assert.ok(now <= before, `workers outlive their run: there are ${now}, and were ${before}`);
});

// again loads the page again.
async function again(page) {
  await page.evaluate(() => {
    document.documentElement.dataset.gone = "soon";
    setTimeout(() => location.reload());
  });
  await until(page, async () => !document.documentElement.dataset.gone);
  await ready(page);
}

// random numbers from a seed: mulberry32.
function random(state) {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

// begin starts a run that does not end by itself, and counts its steps.
const begin = (page, config) => page.evaluate(async (config) => {
  const run = await clipscope.train({ ...config, steps: 1000000 });
  document.documentElement.dataset.seen = "0";
  run.on((e) => { document.documentElement.dataset.seen = e.step; });
  Object.assign(window, { run });
}, config);

// pause has the run pause, and waits until it says that it does.
async function pause(page) {
  await page.evaluate(() => /** @type {any} */ (window).run.pause());
  await page.waitForFunction(() => /** @type {any} */ (window).run.state === "paused");
}

// further waits for so many more steps.
async function further(page, more) {
  const n = more + await page.evaluate(() => Number(document.documentElement.dataset.seen));
  await page.waitForFunction((n) => Number(document.documentElement.dataset.seen) >= n, n);
}

inBoth(`whatever is done to runs of several threads at ${stops} moments, they go on or end, and so do their threads`, async (t, page, its) => {
  const before = await threads(page, its);
  const next = random(seed), done = {};
  for (let i = 0; i < stops; i++) {
    const how = ["stop", "hide", "pause and stop", "reload", "pause and resume", "hide paused", "dispose", "steps"][i % 8];
    const wait = Math.floor(next() * 400), n = 2 + Math.floor(next() * 3), model = next() < 0.5 ? mlp.model : { kind: "cnn-opacus" };
    const what = `seed ${seed}, run ${i}: ${how} after ${wait} ms, ${n} threads`;
    done[how] = (done[how] ?? 0) + 1;
    await begin(page, { ...mlp, model, threads: n });
    await page.waitForTimeout(wait); // the moment is drawn: nothing is waited for
    if (how === "reload") {
      await again(page);
      continue;
    }
    if (how.startsWith("hide")) {
      if (how !== "hide") await page.evaluate(() => /** @type {any} */ (window).run.pause());
      await its.hide(page, true);
      await page.waitForTimeout(wait);
      await its.hide(page, false);
      if (how !== "hide") await page.evaluate(() => /** @type {any} */ (window).run.resume());
      await further(page, 2);
    }
    if (/pause |steps/.test(how)) {
      await pause(page);
      await page.waitForTimeout(wait / 4); // the threads fall asleep
    }
    const end = await page.evaluate(async ({ how, wait, n }) => {
      const run = /** @type {any} */ (window).run;
      if (how === "dispose") {
        run.dispose();
        return run.done.then(() => "done", () => "stopped");
      }
      if (how === "steps") for (let k = 0; k < 3; k++) run.step();
      if (how === "pause and resume") {
        run.resume();
        await new Promise((resolve) => setTimeout(resolve, wait / 4));
      }
      run.stop();
      const result = await run.done;
      return result.stopped && result.threads === n ? "stopped" : JSON.stringify({ ...result, released: 0 });
    }, { how, wait, n });
    assert.equal(end, "stopped", what);
  }
  t.diagnostic(JSON.stringify(done));
  await settled(page, its, before);
  assert.equal((await outcome(page, { ...mlp, threads: 2 })).threads, 2);
  assert.deepEqual(page.errors, []);
});

inBoth("a run goes on when its page is hidden and shown, and ends with it when it is reloaded", async (t, page, its) => {
  const before = await threads(page, its), config = { ...mlp, threads: 3 };
  await begin(page, config);
  await further(page, 5);
  for (const hidden of [true, false]) {
    await its.hide(page, hidden);
    await page.waitForTimeout(300); // it is hidden for a while; what the run does then is not asserted
  }
  await further(page, 20);
  await again(page);
  await settled(page, its, before);
  await begin(page, config);
  await further(page, 5);
  await page.evaluate(() => /** @type {any} */ (window).run.dispose());
  await settled(page, its, before);
  assert.deepEqual(page.errors, []);
});

inBoth(`${steps} steps of two threads end where one thread's do, and memory is flat`, async (t, page) => {
  const config = { ...mlp, method: "dc-e", steps };
  const ends = [await outcome(page, { ...config, threads: 2 }), await outcome(page, { ...config, threads: 1 })];
  assert.deepEqual(ends.map((end) => end.threads), [2, 1]);
  assert.equal(ends[0].parameters, ends[1].parameters);
  // Memory is read of a run that does not end while that is done.
  await begin(page, { ...config, threads: 2 });
  const readings = [];
  for (const at of [0.3 * steps, 0.9 * steps]) {
    await further(page, at - await page.evaluate(() => Number(document.documentElement.dataset.seen)));
    await pause(page);
    // Chromium can count all memory, the kernels' too, in half a minute.
    readings.push(await page.evaluate(async (counted) => {
      const run = /** @type {any} */ (window).run;
      const { heap_bytes, system_bytes } = await run.memory();
      const { bytes } = counted && /** @type {any} */ (performance).measureUserAgentSpecificMemory ? await /** @type {any} */ (performance).measureUserAgentSpecificMemory() : { bytes: 0 };
      run.resume();
      return { step: document.documentElement.dataset.seen, heap_bytes, system_bytes, bytes };
    }, steps > 300));
  }
  await page.evaluate(async () => {
    const run = /** @type {any} */ (window).run;
    run.stop();
    await run.done;
  });
  const [early, late] = readings;
  t.diagnostic(JSON.stringify(readings));
  assert.ok(late.heap_bytes < 1.1 * early.heap_bytes + 1e6 && late.system_bytes <= early.system_bytes + 5e6, "the trainer's memory");
  assert.ok(late.bytes <= 1.1 * early.bytes + 5e6, "the memory of all");
});

test("where threads cannot be had a run has one, and says why", async (t) => {
  // A host without headers, in a browser without service workers.
  const plain = await host(t, `${root}/dist`, "/");
  const bare = await open(await alone(t, { serviceWorkers: "block" }), plain.origin);
  const isolated = await visit(t, "");
  const want = await outcome(isolated, { ...mlp, threads: 3 });
  const got = await outcome(bare, { ...mlp, threads: 3 });
  assert.deepEqual({ ...got, notes: undefined, threads: 3 }, { ...want, notes: undefined });
  assert.equal(got.threads, 1);
  assert.match(got.notes.join(), /One thread instead of 3: the page is not isolated/);
  assert.equal((await outcome(bare, { ...mlp, threads: 1 })).notes, undefined);
  const plan = await bare.evaluate((config) => clipscope.plan(config), { ...mlp, threads: 3 });
  assert.deepEqual(plan.warnings.map((w) => w.field).filter((f) => f === "threads"), ["threads"]);

  // A browser in which a worker starts none.
  const worker = await rebundled("trainer-worker.js", { "kernels.js": (text) => text.replace("new Worker(url)", 'new Worker("blob:nowhere")') });
  const poor = await alone(t, { serviceWorkers: "allow" });
  await poor.route("**/web/trainer-worker.js", async (route) => route.fulfill({ response: await route.fetch(), body: worker }));
  const page = await open(poor, server.url);
  const one = await outcome(page, { ...mlp, threads: 3 });
  assert.deepEqual({ ...one, notes: undefined, threads: 3 }, { ...want, notes: undefined });
  assert.equal(one.threads, 1);
  assert.match(one.notes.join(), /1 of 3 threads: a worker could not be started/);
});

inBoth("runs side by side share the cores, and a number of threads that cannot be is refused", async (t, page) => {
  const alone = await outcome(page, mlp);
  const both = await Promise.all([outcome(page, mlp), outcome(page, mlp), outcome(page, mlp)]);
  for (const one of both) assert.equal(one.parameters, alone.parameters);
  for (const threads of [-1, 17, 1.5, "many"]) {
    const refused = await page.evaluate((config) => clipscope.plan(config).then(() => undefined, (e) => e.detail.field), { ...mlp, threads });
    assert.equal(refused, "threads", `${threads}`);
  }
  assert.deepEqual(page.errors, []);
});
