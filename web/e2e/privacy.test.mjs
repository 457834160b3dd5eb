// The privacy engine in the page: the calculator, statements, the audit.
import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { eventually, narrow, results, stage, start, STILL, wide } from "./browser.mjs";

const { visit, shared } = await stage();
const calculator = shared("calculator");

// --- the calculator ---

const figure = (page, name) => page.locator("#answer .headline > div", { has: page.locator("dt", { hasText: new RegExp(`^${name}$`) }) }).locator("dd.figure");
// settled waits for the whole answer to the question in the address, which changes with a field:
// no answer to an earlier question is that.
const settled = (page) => eventually(async () => {
  const shown = await page.evaluate(() => {
    const answer = document.getElementById("answer"), busy = document.getElementById("busy"), question = new URLSearchParams(answer?.dataset.question);
    return {
      answered: Boolean(answer?.querySelector(".headline")), busy: busy?.classList.contains("nothing") ? "" : busy?.textContent ?? "there is no answer",
      asked: [...new URLSearchParams(location.hash.slice(1))].filter(([key, value]) => question.get(key) !== value).map(([key, value]) => `${key}=${value}`).join("&"),
    };
  });
  assert.deepEqual(shown, { answered: true, busy: "", asked: "" }, `what the page shows is no answer to its address: ${JSON.stringify(shown)}, errors ${JSON.stringify(page.errors)}`);
});

test("the calculator answers in all four directions and keeps the question in its address", async (t) => {
  const page = await visit(t, "calculator#noise_multiplier=1.1&rows=60000&expected_batch_size=256&steps=14062");
  await settled(page);
  // PRV's bounds are 2.37146 … 2.39174.
  const epsilon = Number(await figure(page, "ε").innerText());
  assert.ok(epsilon > 2.371 && epsilon < 2.392, `ε = ${epsilon}`);
  assert.match(await page.locator("#answer .bracket").innerText(), /RDP shows 2\.59\d* .*GDP says 2\.32\d*, which is no bound/);
  assert.match(await page.locator("#tuning .cheapest").innerText(), /cheapest/);
  for (const { id, what, low, high } of [{ id: "noise_multiplier", what: "σ", low: 1.099, high: 1.102 }, { id: "steps", what: "T", low: 14000, high: 14200 }, { id: "sample_rate", what: "q", low: 0.00425, high: 0.00429 }]) {
    await page.locator(`#s-solve-${id}`).check({ force: true });
    await settled(page);
    const value = Number((await figure(page, what).innerText()).replaceAll(",", ""));
    assert.ok(value >= low && value <= high, `${what} = ${value}, want ${low} … ${high}`);
  }
  await page.waitForURL(/solve=sample_rate/);
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

// A question that takes long on any machine.
const slow = { noise_multiplier: 0.021, sample_rate: 256 / 60000, steps: 1e6, target_delta: 1e-5 };

test("the calculator says that it works, greys what is old, and is called off", async (t) => {
  const page = await visit(t, "calculator");
  await settled(page);
  const workers = page.workers().length;
  assert.equal(await page.locator(".stale").count(), 0);
  const before = await figure(page, "σ").innerText();
  // Every frame is looked at in the page: the answer's head may come before a test could ask for it.
  await page.evaluate(() => {
    const frames = [], grey = (part) => Boolean(document.querySelector(part)?.closest(".stale"));
    const sigma = () => [...document.querySelectorAll("#answer .headline > div")].find((div) => div.querySelector("dt")?.textContent === "σ")?.querySelector("dd.figure")?.textContent;
    const look = () => {
      frames.push({
        old: ["#answer .headline", "#panel-steps", "#panel-delta", "#tuning", "#group"].every(grey) && document.querySelector("#answer")?.getAttribute("aria-busy") === "true",
        grey: grey("#answer .headline"), sigma: sigma(), field: document.querySelector("#f-noise_multiplier")?.["value"],
      });
      requestAnimationFrame(look);
    };
    look();
    Object.assign(window, { frames });
  });
  const seen = () => page.evaluate(() => window["frames"]);
  await page.fill("#f-epochs", "4000");
  await page.fill("#f-noise_multiplier", String(slow.noise_multiplier));
  await eventually(async () => assert.ok((await seen()).some((f) => f.old && f.sigma === before && f.field === String(slow.noise_multiplier)), "what is about another noise is not grey"));
  await page.locator("#answer[aria-busy=true] #busy", { hasText: "Calculating" }).waitFor();
  const wrong = (await seen()).map((f) => !f.grey && f.sigma !== f.field);
  assert.ok(!wrong.some((is, i) => is && wrong[i - 1]), "for more than a frame another noise's figure is not grey");
  await page.click("#calculate");
  await page.locator("#answer[aria-busy=false] #busy", { hasText: "Cancelled" }).waitFor();
  assert.ok(await page.locator("#tuning.stale").isVisible());
  // The worker went with the question; another answers the next.
  await page.fill("#f-epochs", "1");
  await page.fill("#f-noise_multiplier", "2");
  await settled(page);
  assert.equal(await figure(page, "σ").innerText(), "2");
  assert.equal(await page.locator(".stale").count(), 0);
  // Whoever leaves is not answered behind their back. (One field at a time: a worker that
  // has not been asked when its question is called off lives on, and has nothing to do.)
  await page.fill("#f-epochs", "4000");
  await settled(page);
  assert.equal(await figure(page, "T").innerText(), "937,500");
  await page.fill("#f-noise_multiplier", String(slow.noise_multiplier));
  await page.waitForFunction(() => {
    const busy = document.querySelector("#busy:not(.nothing)");
    return busy?.textContent.includes("Calculating") && busy.querySelector("progress").value > 0;
  });
  await page.click("nav >> text=Help");
  await eventually(() => assert.ok(page.workers().length < workers, "the question's worker lives on"));
  await page.click("nav >> text=Calculator");
  await page.locator("#answer[aria-busy=true] #busy", { hasText: "Calculating" }).waitFor();
  assert.deepEqual(page.errors, []);
});

test("no run waits for a question", async (t) => {
  const page = await visit(t, "");
  const r = await page.evaluate(async (slow) => {
    const off = new AbortController();
    let answered = 0;
    const questions = Array.from({ length: 3 }, () => clipscope.curve({ ...slow, over: "epsilon" }, off.signal).then(() => { answered++; }, (e) => e.name));
    const late = new AbortController(), queued = clipscope.epsilon({ ...slow, steps: 10 }, late.signal).catch((e) => e.name);
    late.abort();
    const called = [await queued, await clipscope.methods(undefined, AbortSignal.abort()).catch((e) => e.name), answered];
    const rows = Array.from({ length: 60 }, (_, i) => `${i % 7},${i % 2}`).join("\n");
    const run = await clipscope.train({ steps: 3, expected_batch_size: 8, noise_multiplier: 1, csv: { label: "y" } }, { train: [new File(["x,y\n" + rows], "t.csv")] });
    const { statement } = await run.done;
    const then = answered;
    off.abort();
    return { called, then, statement: !!statement.text, names: await Promise.all(questions), next: await clipscope.epsilon({ ...slow, noise_multiplier: 1, steps: 10 }) };
  }, slow);
  assert.deepEqual(r.called, ["AbortError", "AbortError", 0], "who is called off waits for no other");
  assert.equal(r.then, 0, "the run began and ended behind the questions");
  assert.ok(r.statement && r.next > 0);
  assert.deepEqual(r.names, ["AbortError", "AbortError", "AbortError"]);
});

for (const [name, viewport] of [["wide", wide], ["narrow", narrow]]) {
  for (const colorScheme of ["light", "dark"]) {
    test(`the calculator fits, ${name} ${colorScheme}`, async () => {
      const page = await calculator();
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      await settled(page);
      await eventually(async () => {
        const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(over <= 0, `${over} pixels too wide`);
      });
      await page.screenshot({ path: path.join(results, `calculator-${name}-${colorScheme}.png`), fullPage: true });
    });
  }
}

test("δ, reports, curves, tuning and calibration from a script", async () => {
  const page = await calculator();
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

test("no ε is shown below what it is", async () => {
  const page = await calculator();
  await settled(page);
  const wrong = await page.evaluate(() => {
    for (let i = 0; i < 100000; i++) {
      const x = Math.exp(20 * Math.random() - 10), digits = 1 + Math.floor(8 * Math.random());
      const y = clipscopePage.ui.roundUp(x, digits);
      if (!(y >= x && y - x <= 10 ** (Math.floor(Math.log10(x)) + 1 - digits) * (1 + 1e-9)) || Number(y.toPrecision(digits)) !== y) return [x, digits, y];
    }
    return ["infinite", Infinity, 0].some((x) => clipscopePage.ui.roundUp(x, 3) !== x) ? ["special"] : [];
  });
  assert.deepEqual(wrong, []);
  // The figures, the cursor of the chart and the marks all come from the one report.
  const report = await page.evaluate(() => clipscope.report({ noise_multiplier: 1.1, sample_rate: 256 / 60000, steps: 3516, target_delta: 1e-5 }));
  const shown = Number(await figure(page, "ε").innerText());
  assert.ok(shown >= report.pld && shown < report.pld * 1.001, `${shown} for ${report.pld}`);
  const [low, high] = (await page.locator("#answer .bracket strong").allInnerTexts()).slice(0, 2).map(Number);
  assert.ok(low <= report.pld_lower_bound && high >= report.pld, `${low} … ${high} for ${report.pld_lower_bound} … ${report.pld}`);
  const chart = page.locator("#panel-steps .plot");
  await chart.focus();
  await page.keyboard.press("End");
  const curve = await page.evaluate(() => clipscope.curve({ noise_multiplier: 1.1, sample_rate: 256 / 60000, steps: 3516, target_delta: 1e-5, to: 5274 }));
  await eventually(async () => {
    const readout = await chart.locator(".readout").innerText();
    const pld = Number(readout.match(/PLD ([\d.]+)/)?.[1]), exact = curve.epsilon.at(-1);
    assert.ok(pld >= exact && pld < exact * 1.01, `${readout} for ${exact}`);
  });
});

test("the calculator and scripts price several rows of one person", async (t) => {
  const page = await visit(t, "calculator#noise_multiplier=4&rows=60000&expected_batch_size=256&steps=1000&group=5");
  await settled(page);
  const of = (rows) => page.evaluate((rows) => clipscope.group({ noise_multiplier: 4, sample_rate: 256 / 60000, steps: 1000, target_delta: 1e-5, rows }), rows);
  const shown = async () => (await page.locator("#group").innerText()).match(/^For someone with (\d+) rows? in the data, ε = ([\d.]+) at the same δ/);
  let [, rows, epsilon] = await shown();
  const five = await of(5);
  assert.equal(rows, "5");
  assert.ok(Number(epsilon) >= five && Number(epsilon) < five * 1.002, `${epsilon} for ${five}`);
  await page.fill("#f-group", "20");
  await settled(page);
  [, rows, epsilon] = await shown();
  assert.equal(rows, "20");
  assert.ok(Number(epsilon) > five);
  const one = await page.evaluate(() => clipscope.epsilon({ noise_multiplier: 4, sample_rate: 256 / 60000, steps: 1000, target_delta: 1e-5 }));
  assert.ok(await of(1) >= one * (1 - 1e-3) && await of(2) > one && await of(2) > await of(1) && await of(100) > await of(50));
  assert.equal(await page.evaluate(() => clipscope.group({ noise_multiplier: 1, sample_rate: 0.1, steps: 1, target_delta: 1e-5, rows: 0 }).catch((e) => e.detail.field)), "rows");
  assert.deepEqual(page.errors, []);
});

// --- the statement ---

const config = { model: { kind: "softmax" }, method: "constant", noise_multiplier: 1, max_grad_norm: 1, target_delta: 1e-5, expected_batch_size: 40, steps: 30, learning_rate: 0.1, scaling: { kind: "declared", lo: 0, hi: 20 } };

test("a run ends with a statement that can be kept", async (t) => {
  const page = await visit(t, "#data=digits&model.kind=softmax&method=dc-e&noise_multiplier=1&expected_batch_size=256&steps=20&noise_mode=secure");
  await page.locator(".figures").first().waitFor({ state: "attached" });
  await start(page);
  await page.locator("#statement summary").click();
  const text = page.locator("#statement .statement-text");
  for (const say of [/satisfies \(ε = [\d.]+, δ = 1e-05\)-differential privacy/, /zero-out relation/, /Poisson sampling/, /dc-e/, /RDP [\d.]+ at order/, /Noise: secure/, /Clipscope \d+\.\d+\.\d+\+/]) await eventually(async () => assert.match(await text.innerText(), say));
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#save-statement-json")]);
  const chunks = [];
  for await (const c of await download.createReadStream()) chunks.push(c);
  const s = JSON.parse(Buffer.concat(chunks).toString());
  assert.equal(s.guarantee, true);
  assert.equal(s.noise_mode, "secure");
  assert.equal(s.steps, 20);
  assert.equal(s.events[0].count, 20);
  assert.ok(s.versions.clipscope && s.epsilons.rdp >= s.epsilons.pld && s.released.length > 1);
  assert.deepEqual(page.errors, []);
});

test("a fixed seed, or no noise, makes it a statement of no guarantee", async (t) => {
  const page = await visit(t, STILL);
  const why = await page.evaluate(async (config) => {
    const said = [];
    for (const change of [{ seed: 1 }, { method: "none", noise_multiplier: undefined }]) {
      const run = await clipscope.train({ ...config, data: "moons", scaling: undefined, steps: 3, ...change });
      said.push((await run.done).statement);
    }
    return said;
  }, config);
  for (const s of why) {
    assert.equal(s.guarantee, false);
    assert.match(s.text, /^For teaching, no guarantee/);
  }
});

test("ε is shown as no bound where it is none", async (t) => {
  const page = await visit(t, "#data=moons&scaling.kind=measured&target_epsilon=1&steps=5");
  const note = page.locator(".spent", { hasText: "no guarantee" });
  await note.waitFor();
  await page.locator("#card-privacy", { hasText: "1.00 without guarantee" }).waitFor();
  await start(page);
  await page.locator("#result .value-plain", { hasText: "ε, no guarantee" }).waitFor();
  await eventually(async () => assert.match(await page.locator("#run-said").textContent(), /5 of 5 steps; it carries no guarantee\.$/));
  await note.waitFor();
  await page.locator(".chart p, .panel p", { hasText: "This run carries no guarantee. Its noise alone would be good for ε = 1.00 after 5 steps." }).first().waitFor();
  await page.screenshot({ path: path.join(results, "unbacked-wide.png") });
  await page.setViewportSize({ width: 390, height: 844 });
  await page.screenshot({ path: path.join(results, "unbacked-phone.png") });
  assert.deepEqual(page.errors, []);
  const seeded = await visit(t, "#data=moons&seed=1&target_epsilon=1&steps=5");
  await start(seeded);
  await seeded.click("#use-model");
  await seeded.locator("#about .value-plain", { hasText: "ε, no guarantee" }).waitFor();
  assert.deepEqual(seeded.errors, []);
});

// --- the audit ---

test("one click audits the trainer and the claim stands", async (t) => {
  const page = await visit(t, "calculator");
  await settled(page);
  await page.click("#audit-start");
  await page.locator("#audit-progress").waitFor();
  await page.locator("#audit .verdict").waitFor();
  const text = await page.locator("#audit").innerText();
  assert.match(text, /The claim stands/);
  const [claimed, measured] = [...text.matchAll(/ε ([\d.]+)\n/g)].map((m) => Number(m[1]));
  assert.ok(measured > 1 && measured < claimed && claimed <= 4, `claimed ${claimed}, measured ${measured}`);
  await page.screenshot({ path: path.join(results, "audit.png"), fullPage: true });
  await page.click("#audit-start");
  await page.click("#audit-stop");
  await page.locator("#audit-start").waitFor();
  assert.deepEqual(page.errors, []);
});

test("worst-case data, too, leave the claim standing", async (t) => {
  const page = await visit(t, "calculator");
  await settled(page);
  await page.selectOption("#audit-kind", "worst-case");
  await page.click("#audit-start");
  await page.locator("#audit .verdict").waitFor({ timeout: 200_000 }); // a minute's work where nothing else runs
  const text = await page.locator("#audit").innerText();
  assert.match(text, /The claim stands/);
  assert.equal(await page.locator(".audit-cases tbody tr").count(), 3);
  await page.screenshot({ path: path.join(results, "audit-worst-case.png"), fullPage: true });
});

test("an audit from a script can be chosen and cancelled", async (t) => {
  const page = await visit(t, STILL);
  const r = await page.evaluate(async () => {
    const steps = [];
    // By chance a sound trainer is refuted: of 3,216 such audits 10 were, at the usual 5 %.
    const small = { canaries: 300, rows: 200, steps: 30, significance: 1e-9, config: { method: "auto-s", noise_mode: "secure", noise_multiplier: 2 } };
    const report = await clipscope.audit(small, (p) => steps.push(p.step));
    const abort = new AbortController();
    const ended = clipscope.audit({ ...small, steps: 10000 }, () => abort.abort(), abort.signal).catch((e) => e.name);
    return { report, steps, ended: await ended, bad: await clipscope.audit({ config: { method: "none" } }).catch((e) => e.detail.field) };
  });
  assert.equal(r.report.refuted, false);
  assert.equal(r.report.noise_multiplier, 2);
  assert.equal(r.steps.at(-1), 30);
  assert.equal(r.ended, "AbortError");
  assert.equal(r.bad, "method");
});
