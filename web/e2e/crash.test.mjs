// What happens when a trainer's program ends, or is of another version than the
// page: one run is lost, in words, and nothing else.
import assert from "node:assert/strict";
import { test } from "node:test";
import { gate, rebundled, stage, train, until } from "./browser.mjs";

const { visit: arrive } = await stage();

const config = {
  data: "moons", model: { kind: "mlp", hidden: [8] }, method: "constant", noise_multiplier: 100, max_grad_norm: 1,
  target_delta: 1e-5, expected_batch_size: 8, steps: 5_000_000, learning_rate: 0.1, optimizer: "sgd",
};

// visit opens a page whose trainer workers run what change() makes of the
// bootstrap. Without a service worker, so that the test can stand in between.
async function visit(t) {
  const page = await arrive(t, "", { serviceWorkers: "block" });
  const sabotage = (change) => page.route("**/web/trainer-worker.js", async (route) => {
    const response = await route.fetch(); // for its headers, which isolation asks for
    await route.fulfill({ response, body: await rebundled("trainer-worker.js", { "trainer-worker.js": change }) });
  });
  return { page, sabotage };
}

// after has a worker do something once it has told the first of a type of message.
const after = (type, act) => `{
  const post = postMessage;
  globalThis.postMessage = (m, ...rest) => {
    post(m, ...rest);
    if (m.type === "${type}") ${act};
  };
}`;

// dying has the Go program end with the first message of a type that it tells, as it does
// when the runtime gives up: it writes why, and its run is over.
const dying = (why, type) => (script) => script + `
  globalThis.Go = class extends globalThis.Go {
    constructor() {
      super();
      const end = () => {
        fs.writeSync(2, new TextEncoder().encode(${JSON.stringify(why)}));
        this.exited = true;
        this._resolveExitPromise();
      };
      ${after(type, "end()")}
    }
  };`;

for (const [name, log, want] of [
  ["out of memory", "runtime: out of memory: cannot allocate 4194304-byte block\nfatal error: out of memory\n\ngoroutine 1", /ran out of memory.*only this run/],
  ["out of memory, at length", "runtime: out of memory: cannot allocate 4194304-byte block\nfatal error: out of memory\n" + "goroutine 1 [running]:\n\tsomewhere.go:1\n".repeat(500), /ran out of memory.*only this run/],
  ["a fatal error", "fatal error: concurrent map writes\n\ngoroutine 7", /ended unexpectedly \(fatal error: concurrent map writes\)/],
]) {
  test(`${name} ends one run and says so`, async (t) => {
    const { page, sabotage } = await visit(t);
    await sabotage(dying(log, "events"));
    const r = await page.evaluate(async (config) => {
      const data = await clipscope.open("moons");
      const run = await clipscope.train(config, data);
      const message = await run.done.then(() => null, (e) => e.message);
      return { message, state: run.state, epsilon: await clipscope.epsilon({ noise_multiplier: 1, sample_rate: 0.01, steps: 10, target_delta: 1e-5 }), summary: data.summary.name, data: (globalThis.kept = data) && true };
    }, config);
    assert.match(r.message, /** @type {RegExp} */ (want));
    assert.equal(r.state, "error");
    assert.ok(r.epsilon > 0, "the calculator still answers");
    // The data opens again by itself.
    await page.unroute("**/web/trainer-worker.js");
    const steps = await page.evaluate(async (config) => (await (await clipscope.train(config, globalThis.kept)).done).steps, { ...config, steps: 3 });
    assert.equal(steps, 3);
  });
}

test("workers that vanish before they have the program are replaced, and who waits can call it off", async (t) => {
  const { page } = await visit(t);
  await page.addInitScript(() => {
    const Real = Worker;
    globalThis.started = [];
    globalThis.Worker = class extends Real {
      constructor(/** @type {any[]} */ ...given) {
        super(.../** @type {[any]} */ (given));
        globalThis.started.push(this);
      }
    };
  });
  const program = gate();
  await page.route("**/app.wasm", async (route) => {
    await program.opened;
    await route.continue();
  });
  await page.reload({ waitUntil: "commit" });
  await until(page, async () => (await navigator.locks.query()).pending?.length === 2); // the page waits for what its workers hold
  const calledOff = await page.evaluate(async () => {
    const off = new AbortController();
    const calls = [clipscope.epsilon({}, off.signal), clipscope.open("moons", {}, undefined, off.signal), clipscope.audit({}, undefined, off.signal)];
    off.abort();
    return Promise.all(calls.map((call) => call.then(() => "answered", (e) => e.name)));
  });
  assert.deepEqual(calledOff, ["AbortError", "AbortError", "AbortError"]);
  await page.evaluate(() => globalThis.started.forEach((worker) => worker.terminate()));
  program.open();
  const r = await page.evaluate(async (config) => {
    const run = await clipscope.train({ ...config, steps: 3 }, await clipscope.open("moons"));
    return { steps: (await run.done).steps, epsilon: await clipscope.epsilon({ noise_multiplier: 1, sample_rate: 0.01, steps: 10, target_delta: 1e-5 }) };
  }, config);
  assert.equal(r.steps, 3);
  assert.ok(r.epsilon > 0);
});

test("a worker that vanishes without a word ends one run and says so", async (t) => {
  const { page, sabotage } = await visit(t);
  await sabotage((script) => script + after("events", "self.close()"));
  const r = await page.evaluate(async (config) => {
    const data = globalThis.kept = await clipscope.open("moons");
    const run = await clipscope.train(config, data);
    const before = run.state;
    return { before, message: await run.done.then(() => null, (e) => e.message), state: run.state };
  }, config);
  assert.deepEqual([r.before, r.state], ["running", "error"]);
  assert.match(r.message, /gone without a word.*Only this run is lost/);
  await page.unroute("**/web/trainer-worker.js");
  // The data opens again by itself; closed meanwhile, its worker ends with the run.
  const again = await page.evaluate(async (config) => {
    const starting = clipscope.train(config, globalThis.kept);
    globalThis.kept.close();
    const run = await starting, { steps } = await run.done;
    return { steps, memory: await run.memory().then(() => null, (e) => e.message) };
  }, { ...config, steps: 2 });
  assert.equal(again.steps, 2);
  assert.match(again.memory, /has ended/);
});

test("memory that files take is said with their names", async (t) => {
  const { page, sabotage } = await visit(t);
  await sabotage(dying("runtime: out of memory: cannot allocate 4194304-byte block\nfatal error: out of memory\n", "progress"));
  const open = (...names) => page.evaluate(async (names) => {
    const records = new Blob([new Uint8Array(3073 * 341)]); // a megabyte of them
    const files = names.map((name) => new File(Array(20).fill(records), name));
    return clipscope.open({ train: files }).then(() => "", (e) => e.message);
  }, names);
  assert.equal(await open("pixels.bin", "more.bin"), "There is not enough memory to open pixels.bin and 1 more. Use fewer rows or columns.");
  assert.match(await open(`${"long".repeat(100)}.bin`), /^There is not enough memory to open (long){15}…(long){4}\.bin\. Use/);
});

test("kernels without memory end one run and say so", async (t) => {
  const { page, sabotage } = await visit(t);
  await sabotage((script) => script.replace(/await Promise.all.*kernels.load.*/, `$&
    kernels.imports.alloc = () => { throw new RangeError("out of memory: on purpose"); };`));
  const message = await page.evaluate((config) => clipscope.train(config).then((run) => run.done).then(() => null, (e) => e.message), config);
  assert.match(message, /ran out of memory.*only this run/);
  await page.unroute("**/web/trainer-worker.js");
  assert.equal((await train(page, { ...config, steps: 2 })).result.steps, 2);
});

test("a worker that cannot start is an error, and the next one may", async (t) => {
  const { page, sabotage } = await visit(t);
  await sabotage(() => "throw new Error('broken on purpose');");
  const message = await page.evaluate((config) => clipscope.train(config).then(() => null, (e) => e.message), config);
  assert.match(message, /could not run.*broken on purpose/);
  await page.unroute("**/web/trainer-worker.js");
  assert.equal((await train(page, { ...config, steps: 2 })).result.steps, 2);
});

test("a worker of another version asks for a reload", async (t) => {
  const { page, sabotage } = await visit(t);
  await sabotage(() => `onmessage = () => postMessage({ type: "ready", id: 0, text: '{"protocol":999}' });`);
  const message = await page.evaluate((config) => clipscope.train(config).then(() => null, (e) => e.message), config);
  assert.match(message, /updated.*[Rr]eload/);
});
