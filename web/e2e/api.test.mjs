// The scripting API in a real browser: what a user's script can do and what it
// is told when it cannot.
import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { file, hasShared, sharedFile, stage, train, until } from "./browser.mjs";

const { shared } = await stage();
const page = await shared("")();

// A run that takes a second at most.
const quick = {
  data: "digits", model: { kind: "softmax" }, method: "constant", noise_multiplier: 0.8, max_grad_norm: 1,
  target_delta: 1e-5, expected_batch_size: 256, steps: 40, learning_rate: 0.5, optimizer: "sgd",
};

// A run that does not end by itself while a test lasts.
const endless = { ...quick, data: "moons", expected_batch_size: 8, steps: 50_000_000, noise_multiplier: 100 };

test("methods and data describe themselves", async () => {
  const { methods, datasets, version } = await page.evaluate(async () => ({
    methods: await clipscope.methods(), datasets: await clipscope.datasets(), version: clipscope.version,
  }));
  for (const name of ["none", "constant", "auto-s", "psac", "dc-e"]) {
    const m = methods.find((m) => m.name === name);
    assert.ok(m?.title && m.idea && m.paper, `method ${name} is described`);
  }
  for (const name of ["digits", "digits-rare", "moons", "blobs", "spirals", "sentences", "regression-vc", "regression-ac", "regression-ac-far"]) {
    assert.ok(datasets.some((d) => d.name === name), `data ${name} is listed`);
  }
  assert.match(version, /^\d+\.\d+\.\d+\+[0-9a-f]{8}$/);
});

test("epsilon and calibrate agree with each other and with known values", async () => {
  const r = await page.evaluate(async () => {
    const of = (x) => clipscope.epsilon({ target_delta: 1e-5, accountant: "rdp", ...x });
    const target = { target_epsilon: 3, target_delta: 1e-5, sample_rate: 0.01, accountant: "rdp" };
    const noise = await clipscope.calibrate({ ...target, steps: 1000 });
    const most = await clipscope.calibrate({ ...target, noise_multiplier: noise.noise_multiplier });
    return {
      known: await of({ noise_multiplier: 1.5, sample_rate: 0.04, steps: 2250 }),
      none: await of({ noise_multiplier: 0, sample_rate: 0.04, steps: 1 }),
      noise, most,
    };
  });
  // Opacus and dp_accounting give 7.329111 and 7.329335 with their own orders.
  assert.ok(r.known > 7.32 && r.known <= 7.3292, `epsilon ${r.known}`);
  assert.equal(r.none, Infinity);
  // Opacus gives 0.86461 for these.
  assert.ok(Math.abs(r.noise.noise_multiplier - 0.8646) < 2e-3, `noise_multiplier ${r.noise.noise_multiplier}`);
  assert.ok(r.noise.epsilon <= 3 && r.noise.epsilon > 2.99, `epsilon ${r.noise.epsilon}`);
  assert.ok(r.most.steps >= 1000 && r.most.steps < 1010 && r.most.epsilon <= 3, `steps ${r.most.steps}`);
});

test("a step that takes long says how far it is, but not in a blind run", async () => {
  const [told, blind] = await page.evaluate(async () => {
    const shares = async (blind) => {
      const run = await clipscope.train({ data: "digits", model: { kind: "cnn-opacus" }, threads: 1, augmentation: { kind: "flip", multiplicity: 4 }, method: "constant", noise_multiplier: 1, expected_batch_size: 3000, max_physical_batch_size: 64, steps: 1, blind }), heard = [];
      run.onWithin(({ share }) => heard.push(share));
      await run.done;
      return heard;
    };
    return [await shares(false), await shares(true)];
  });
  assert.ok(told.length > 0 && told.every((share, i) => share > (told[i - 1] ?? 0) && share < 1), told.join(" "));
  assert.deepEqual(blind, []);
});

test("the best of several runs is told within one ε, and what was tried to its owner", async () => {
  const r = await page.evaluate(async (config) => {
    const run = await clipscope.train(config), trials = [], events = [];
    run.onTrial((t) => trials.push(t));
    run.on((e) => events.push(e));
    const result = await run.done;
    return { plan: run.plan, trials, events, result: { ...result, released: { ...result.released, parameters: result.released.parameters?.length } } };
  }, { ...quick, noise_multiplier: undefined, target_epsilon: 2, seed: 4, tuning: { runs: 3, learning_rate: [0.1, 0.5], max_grad_norm: [1] } });
  const { plan, trials, events, result } = r;
  assert.ok(plan.epsilon <= 2 && plan.epsilon > 1.99 && plan.tuning.epsilon < plan.epsilon, JSON.stringify(plan.tuning));
  assert.ok(trials.length > 0 && trials.every((t) => t.number >= 1 && t.step <= 40 && t.steps === 40), JSON.stringify(trials));
  assert.equal(events.at(-1).step, 40);
  assert.ok(events.every((e) => !e.trial && !e.diagnostic && e.released.epsilon === plan.epsilon));
  assert.equal(result.tried.filter((t) => t.selected).length, 1);
  assert.equal(result.selected.learning_rate, result.tried.find((t) => t.selected).learning_rate);
  assert.ok(result.released.parameters > 0 && result.statement.text.includes("the seed is fixed"), result.statement.text);
  assert.equal(result.epsilon, plan.epsilon);
});

test("a run on built-in data learns, reports every step and ends", async () => {
  const { result, events, parameters, typed, finite, plan } = await train(page, quick);
  assert.equal(result.steps, 40);
  assert.ok(result.test_accuracy > 0.6, `accuracy ${result.test_accuracy}`);
  assert.ok(result.epsilon > 0 && Number.isFinite(result.epsilon));
  assert.equal(result.delta, 1e-5);
  assert.ok(result.train_seconds > 0);
  assert.match(result.guarantee, /differential/);
  assert.equal(parameters, 7850);
  assert.ok(typed, "parameters are not numbers one by one");
  assert.equal(plan.parameters, 7850);
  assert.ok(finite, "parameters are finite");
  const last = events.at(-1);
  assert.equal(last.step, 40);
  assert.ok(Math.abs(last.released.epsilon - result.epsilon) < 1e-9, "the last event has spent what the result says");
  assert.ok(events.every((e, i) => i === 0 || e.step > events[i - 1].step), "events come in order");
  assert.ok(events.every((e) => e.released.max_grad_norm === 1), "C is reported");
});

test("a laboratory stands still, goes back to where it began, and is its own", async (t) => {
  const r = await page.evaluate(async (config) => {
    const cs = Array.from({ length: 33 }, (_, i) => 10 ** (i / 8 - 2)), first = (l) => JSON.stringify([l.step, l.norms]);
    const one = await clipscope.lab(config), begun = one.look;
    const psac = { method: "psac", r: 0.1 };
    const curve = await one.curve(psac, cs), at = await one.at(psac, cs[20]);
    let t0 = performance.now();
    await one.curve(psac, cs);
    const took = { curve: performance.now() - t0 };
    t0 = performance.now();
    for (let i = 0; i < 20; i++) await one.at(psac, cs[i]);
    took.at = (performance.now() - t0) / 20;
    t0 = performance.now();
    const other = await one.again();
    took.look = performance.now() - t0;
    const on = await one.on(3), draws = await one.draws({ method: "constant" }, 0.5, 100);
    await one.back();
    const refused = await one.curve({ method: "adaclip" }, cs).catch((e) => [e.message, e.detail.field]);
    const data = await clipscope.open(config.data);
    const [a, b] = await Promise.all([clipscope.lab({ ...config, seed: 7 }, data), clipscope.lab({ ...config, seed: 8 }, data)]);
    const again = await clipscope.lab({ ...config, seed: begun.seed });
    const apart = [await a.at(psac, 1), await b.at(psac, 1)].map((p) => p.bias2), same = first(again.look) === first(begun);
    a.close();
    data.close();
    const out = {
      rows: begun.rows, of: begun.sensitivity_of, curve: curve.bias2[20], at: at.bias2, factors: at.factors.length, took, draws, refused, apart, same, 
      differ: first(other) !== first(begun), on: on.step, closed: await a.at(psac, 1).catch((e) => e.message), left: (await b.at(psac, 1)).bias2,
    };
    // The batch is still the other one: its first parameters, not its rows, are back.
    out.back = first(one.look) === first(other);
    for (const l of [one, b, again]) l.close();
    return out;
  }, { ...quick, model: { kind: "mlp", hidden: [128] }, expected_batch_size: 512 });
  assert.equal(r.rows, 512);
  assert.equal(r.factors, 512);
  assert.equal(r.of, "constant");
  assert.equal(r.on, 3);
  assert.equal(r.at, r.curve, "one threshold is a point of the curve");
  assert.ok(r.differ && r.back && r.same, JSON.stringify([r.differ, r.back, r.same]));
  assert.ok(r.apart[0] !== r.apart[1] && r.left === r.apart[1], "two laboratories on one data set do not answer for each other");
  assert.match(r.refused[0], /adaclip: this method clips in coordinates of its own/);
  assert.equal(r.refused[1], "method");
  assert.match(r.closed, /closed/);
  // Four standard errors: one false alarm in 15,000 seeds, which are drawn here.
  assert.ok(Math.abs(r.draws.mean_square - r.draws.formula) < 4 * r.draws.standard_error, JSON.stringify(r.draws.mean_square));
  t.diagnostic(`ms at 512 rows: ${JSON.stringify(r.took)}`);
});

test("without noise epsilon is infinite, not null", async () => {
  const { result, events } = await train(page, { ...quick, steps: 3, method: "none", noise_multiplier: undefined, no_privacy: true });
  assert.equal(result.epsilon, Infinity);
  assert.equal(events.at(-1).released.epsilon, Infinity);
});

test("pause, step, resume and stop", async () => {
  const before = await page.evaluate(async (config) => {
    const run = globalThis.kept = await clipscope.train(config, undefined, { paused: true });
    globalThis.next = () => new Promise((resolve) => { const off = run.on((e) => { off(); resolve(e.step); }); });
    const out = { first: run.state, steps: [] };
    for (let i = 0; i < 3; i++) {
      const step = globalThis.next();
      run.step();
      out.steps.push(await step);
    }
    const step = globalThis.next();
    run.resume();
    await step;
    out.resumed = run.state;
    run.pause();
    return out;
  }, endless);
  assert.deepEqual(before, { first: "paused", steps: [1, 2, 3], resumed: "running" }); // and so no step before
  await until(page, async () => globalThis.kept.state === "paused");
  const r = await page.evaluate(async () => {
    const run = globalThis.kept, seen = [];
    run.on((e) => seen.push(e.step));
    await run.memory(); // which is answered after all that was told before
    const [paused, step] = [seen.length, globalThis.next()];
    run.step();
    await step;
    run.stop();
    const result = await run.done;
    return { paused, state: run.state, stopped: result.stopped, done: result.steps, last: seen.at(-1), seen: seen.length, epsilon: result.epsilon };
  });
  // At most what was under way when the pause was seen, and then the step that was asked for.
  assert.ok(r.paused <= 1 && r.seen <= 2 && r.done === r.last, JSON.stringify(r));
  assert.equal(r.state, "done");
  assert.equal(r.stopped, true);
  assert.ok(r.done > 3 && r.epsilon > 0);
});

test("a fast run sends few messages, and its last event is never lost", async () => {
  const r = await page.evaluate(async (config) => {
    const run = await clipscope.train(config, undefined, { paused: true });
    const sizes = [];
    let last;
    const many = new Promise((resolve) => run.onText((text) => {
      const events = JSON.parse(text);
      last = events.at(-1).step;
      if (sizes.push(events.length) === 40) resolve(undefined);
    }));
    const started = performance.now(); // before the first step: a message that waits on a busy page is not counted to a shorter time
    run.resume();
    await many;
    run.stop();
    const result = await run.done;
    return { seconds: (performance.now() - started) / 1000, sizes, last, steps: result.steps };
  }, endless);
  // 20 a second, the first and the last, and one more for a timer's slack.
  assert.ok(r.sizes.length <= 20 * r.seconds + 3, `${r.sizes.length} messages in ${r.seconds} s`);
  assert.ok(r.steps > 100 && r.last === r.steps, `last event ${r.last} of ${r.steps} steps`);
});

test("runs side by side on one data set, each in its own worker", async () => {
  const r = await page.evaluate(async (config) => {
    const data = await clipscope.open("digits");
    const plan = await clipscope.plan(config, data);
    const runs = await Promise.all([1, 2].map((seed) => clipscope.train({ ...config, seed }, data)));
    const results = await Promise.all(runs.map((run) => run.done));
    const again = await (await clipscope.train({ ...config, seed: 1 }, data)).done;
    data.close();
    const closed = await clipscope.train(config, data).catch((e) => e.message);
    const first = ({ released }) => released.parameters.slice(0, 50);
    return { summary: data.summary, plan, a: first(results[0]), b: first(results[1]), again: first(again), closed };
  }, quick);
  assert.equal(r.summary.rows, 6000);
  assert.equal(r.summary.test_rows, 1000);
  assert.equal(r.summary.preview.images.length, 10);
  assert.equal(Buffer.from(r.summary.preview.images[0], "base64").length, 784);
  assert.ok(Math.abs(r.plan.sample_rate - 256 / 6000) < 1e-12);
  assert.notDeepEqual(r.a, r.b, "another seed is another run");
  assert.deepEqual(r.a, r.again, "the same seed is the same run");
  assert.match(r.closed, /closed/);
});

test("what this browser cannot do is said, not hidden", async () => {
  const { result, plan } = await train(page, { ...quick, steps: 2, backend: "webgpu" });
  const said = [...(result.notes ?? []), ...(plan.warnings ?? []).map((w) => w.message)].join(" ");
  assert.ok(result.backend === "webgpu" || /webgpu/i.test(said), `ran on ${result.backend} and said ${said}`);
});

test("bad configurations name the field", async () => {
  const cases = {
    noise_multiplier: { noise_multiplier: 0 },
    target_epsilon: { noise_multiplier: undefined, target_epsilon: 0 },
    expected_batch_size: { expected_batch_size: 7000 },
    method: { method: "scissors" },
    model: { model: { kind: "oracle" } },
    "model.kind": { model: { kind: "transformer" } }, // of rows without tokens
    data: { data: "cats" },
    backend: { backend: "abacus" },
    learning_rate: { learning_rate: -1 },
    lerning_rate: { lerning_rate: "much" },
    steps: { steps: "many" },
  };
  for (const [field, change] of Object.entries(cases)) {
    for (const call of ["plan", "train"]) {
      const e = await page.evaluate(([call, config]) => clipscope[call](config).then(() => null, (e) => ({ message: e.message, ...e.detail })),
        [call, { ...quick, ...change }]);
      assert.ok(e, `${call} refuses ${field}`);
      assert.equal(e.field, field, `${call}: ${e.message}`);
      assert.doesNotMatch(e.message, /panic|undefined|runtime error/i);
    }
  }
});

// idx writes the IDX format: a magic number, the dimensions, the bytes.
function idx(dims, bytes) {
  const head = Buffer.alloc(4 + 4 * dims.length);
  head.writeUInt32BE(0x0800 + dims.length, 0);
  dims.forEach((d, i) => head.writeUInt32BE(d, 4 + 4 * i));
  return Buffer.concat([head, Buffer.from(bytes)]);
}

// Four-by-four images of two kinds that a line separates.
function stripes(n) {
  const pixels = [], labels = [];
  for (let i = 0; i < n; i++) {
    labels.push(i % 2);
    for (let j = 0; j < 16; j++) pixels.push((j >> 2) % 2 === i % 2 ? 200 + (i * j) % 50 : (i * j) % 40);
  }
  return { images: idx([n, 4, 4], pixels), labels: idx([n], labels) };
}

const table = (n) => "a,b,kind\n" + Array.from({ length: n }, (_, i) => `${i % 7 - 3},${((i * 13) % 11) / 3},${i % 7 > 3 ? "high" : "low"}`).join("\n") + "\n";

test("files are read: IDX plain and gzip, and a table", async () => {
  const a = stripes(200), b = stripes(40);
  const config = { ...quick, data: undefined, expected_batch_size: 50, steps: 30 };
  for (const pack of [(x) => x, gzipSync]) {
    const { result } = await train(page, config, {
      train: [file("a-images", pack(a.images)), file("a-labels", pack(a.labels))],
      test: [file("b-images", pack(b.images)), file("b-labels", pack(b.labels))],
    });
    assert.ok(result.test_accuracy > 0.95, `accuracy ${result.test_accuracy}`);
  }
  const { result } = await train(page, { ...config, scaling: { kind: "declared", lo: -4, hi: 4 } }, { train: [file("table.csv", table(400))] });
  assert.ok(result.test_accuracy > 0.8, `accuracy ${result.test_accuracy}`);
});

// What the user's files call things is never taken for a number, whatever it says.
test("names that look like numbers that JSON lacks stay names", async () => {
  const summary = await page.evaluate(async () => {
    const rows = Array.from({ length: 40 }, (_, i) => `${i},${i % 7},${i % 2 ? "Infinity" : "$numberDouble"}`);
    const table = new File(["NaN,$numberDouble,-Infinity\n" + rows.join("\n") + "\n"], '{"$numberDouble":"NaN"}.csv');
    const data = await clipscope.open({ train: [table] }, { label: "-Infinity", task: "classification", header: "yes" });
    data.close();
    return data.summary;
  });
  assert.equal(summary.name, '{"$numberDouble":"NaN"}.csv');
  assert.deepEqual(summary.classes.toSorted(), ["$numberDouble", "Infinity"]);
  assert.deepEqual(summary.columns.map((c) => c.name), ["NaN", "$numberDouble", "-Infinity"]);
  assert.equal(summary.preview.rows[1][2], "Infinity");
  const e = await page.evaluate(() => clipscope.open({ train: [new File(["x,NaN\n1,0\n2,1\n3,1,4\n"], "Infinity.csv")] }).catch((e) => e.detail));
  assert.equal(e.file, "Infinity.csv");
});

test("bad files are refused in words, and nothing is lost", async () => {
  const { images, labels } = stripes(100);
  const many = Array.from({ length: 400 }, (_, i) => (i === 200 ? "1,foo,1" : `${i % 7},${i / 3},${i % 2}`)).join("\n");
  const cases = {
    "cut gzip": [[file("i.gz", gzipSync(images).subarray(0, 60)), file("l", labels)], /i\.gz/],
    "cut IDX": [[file("i", images.subarray(0, 500)), file("l", labels)], /\bi\b.*(byte|expected)/s],
    "no labels": [[file("i", images)], /label/],
    "no images": [[file("l", labels)], /image/],
    "other labels": [[file("i", images), file("l", stripes(60).labels)], /100|60/],
    "ragged rows": [[file("a.csv", "x,y,label\n1,2,0\n1,2\n3,4,1\n")], /a\.csv.*row 3/],
    "text cell": [[file("a.csv", "x,y,label\n" + many + "\n")], /a\.csv.*row 202.*(foo|column)/s],
    "empty": [[file("a.csv", "")], /a\.csv/],
    "header only": [[file("a.csv", "x,y,label\n")], /a\.csv/],
    "one class": [[file("a.csv", "x,label\n1,0\n2,0\n3,0\n")], /class/],
    "missing cells": [[file("a.csv", "x,label\n1,0\n,1\n3,0\n4,1\n")], /missing/],
    "picture": [[file("a.csv", Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"))], /a\.csv/],
  };
  const data = await page.evaluateHandle(() => clipscope.open("digits"));
  for (const [name, [files, want]] of Object.entries(cases)) {
    const e = await page.evaluate(async ([config, files]) => {
      const list = files.map(({ name, base64 }) => new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], name));
      return clipscope.train(config, { train: list }).then(() => null, (e) => ({ message: e.message, detail: e.detail }));
    }, [{ ...quick, expected_batch_size: 2, steps: 2 }, files]);
    assert.ok(e, `${name} is refused`);
    assert.match(e.message, /** @type {RegExp} */ (want), name);
    assert.ok(e.detail.file || /label|image|class/.test(e.message), `${name} has a place: ${JSON.stringify(e.detail)}`);
    assert.doesNotMatch(e.message, /panic|undefined|runtime error|unreachable/i, name);
  }
  const steps = await page.evaluate(async ([data, config]) => (await (await clipscope.train(config, data)).done).steps, [data, { ...quick, steps: 5 }]);
  assert.equal(steps, 5, "the data that was open still trains");
});

test("a large file is streamed with progress and can be cancelled", async () => {
  const r = await page.evaluate(async () => {
    // 200 MB of rows, made of one block that the browser stores once.
    const rows = "1.25,2.5,3.75,0\n2.5,1.25,0.5,1\n".repeat(20_000);
    const block = new Blob([rows]);
    const big = new File(["a,b,c,label\n", ...Array(Math.ceil(200e6 / block.size)).fill(block)], "big.csv");
    const seen = [];
    const cancel = new AbortController();
    const opening = clipscope.open({ train: [big] }, {}, (p) => {
      seen.push(p);
      if (p.done > 20e6) cancel.abort();
    }, cancel.signal);
    const e = await opening.then(() => null, (e) => e);
    return { name: e?.name, size: big.size, seen };
  });
  assert.equal(r.name, "AbortError");
  assert.ok(r.seen.length > 5, `${r.seen.length} reports`);
  assert.ok(r.seen.every((p) => p.file === "big.csv" && p.total === r.size && p.phase), JSON.stringify(r.seen[0]));
  assert.ok(r.seen.every((p, i) => i === 0 || p.done > r.seen[i - 1].done), "progress only grows");
});

test("what is not files or data is refused", async () => {
  for (const what of [{}, { train: [] }, { train: ["a.csv"] }, 7]) {
    const message = await page.evaluate(([config, what]) => clipscope.train(config, what).then(() => null, (e) => e.message), [quick, what]);
    assert.match(message ?? "accepted", /File/, JSON.stringify(what));
  }
});

test("disposing of a run ends it", async () => {
  const message = await page.evaluate(async (config) => {
    const run = await clipscope.train(config);
    run.dispose();
    return run.done.then(() => null, (e) => e.message);
  }, endless);
  assert.match(message, /disposed/);
});

test("a listener that throws disturbs neither the run nor the others", async () => {
  const seen = await page.evaluate(async (config) => {
    const run = await clipscope.train(config);
    let seen = 0;
    run.on(() => { throw new Error("thrown on purpose"); });
    run.on((e) => { seen = e.step; });
    await run.done;
    return seen;
  }, { ...quick, steps: 5 });
  assert.equal(seen, 5);
  page.errors = page.errors.filter((e) => !/thrown on purpose/.test(e));
});

test("MNIST by softmax regression reaches what the papers do", { skip: !hasShared("data", "mnist") && "no ../shared/data/mnist" }, async () => {
  const [xs, ys, xt, yt] = ["train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1"]
    .map((n) => sharedFile("data", "mnist", n + "-ubyte.gz"));
  const config = {
    model: { kind: "softmax" }, method: "constant", max_grad_norm: 4, expected_batch_size: 600, accountant: "rdp",
    target_epsilon: 1, target_delta: 1e-5, epochs: 10, learning_rate: 0.25, optimizer: "sgd",
  };
  const { result } = await train(page, config, { train: [xs, ys], test: [xt, yt] });
  assert.ok(result.epsilon <= 1 && result.epsilon > 0.99, `epsilon ${result.epsilon}`);
  assert.ok(result.test_accuracy >= 0.905, `accuracy ${result.test_accuracy}`);
});

test("the page reported no errors", () => {
  assert.deepEqual(page.errors, []);
});
