// The page as its visitor uses it: by mouse, by keyboard, at both sizes, in
// light and dark. Screenshots go to results/; CLIPSCOPE_SCREENSHOT=1 renews the
// README's picture as well.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { eventually, frames, gate, hasShared, narrow, open, results, root, shared, stage, start } from "./browser.mjs";

const { server, visit: arrive, alone } = await stage();

// visit opens the page with its data loaded and its plan made.
/** @param {any} t @param {any} [options] of its context, and the hash of the address */
async function visit(t, { hash = "", ...options } = {}) {
  const page = await arrive(t, hash, options);
  await planned(page);
  return page;
}

// anew opens the page again in the window of another visit.
async function anew(page, hash) {
  await page.goto("about:blank"); // or the page that is there would take the hash
  await page.goto(server.url + hash);
  await planned(page);
}

async function planned(page) {
  await page.locator("#card-data .card-line", { hasText: "×" }).waitFor({ state: "attached" });
  await page.locator(".figures").first().waitFor({ state: "attached" });
}

// A run long enough to be looked at, by its hash.
const long = "#data=digits&model.kind=mlp&model.hidden=32&method=dc-e&noise_multiplier=2&expected_batch_size=256&steps=20000&learning_rate=0.1";
const short = "#data=digits&model.kind=softmax&method=constant&noise_multiplier=1&expected_batch_size=256&steps=60&learning_rate=0.5";

const steps = (page) => page.locator(".steps").innerText().then((s) => Number(s.match(/step ([\d,]+)/)?.[1].replaceAll(",", "") ?? NaN));
const stepsReach = (page, n) => page.waitForFunction((n) => Number(document.querySelector(".steps")?.textContent.match(/step ([\d,]+)/)?.[1].replaceAll(",", "")) >= n, n);
const finished = (page) => page.locator("#result").waitFor();
const shot = (page, name) => page.screenshot({ path: path.join(results, `${name}.png`) });
const openCard = async (page, name) => {
  const head = page.locator(`#card-${name} .card-head`);
  if (await head.getAttribute("aria-expanded") === "false") await head.click();
};
const says = (page, selector, want) => eventually(async () => assert.match(await page.locator(selector).first().innerText(), want));
const stands = (page, selector, want) => eventually(async () => assert.equal(await page.inputValue(selector), want));
const gone = (page, selector) => page.locator(selector).waitFor({ state: "hidden" });
// settled waits until an element has not been made anew for so many frames: a card that has
// just opened may still get the answer to its first question.
const settled = (page, selector) => eventually(async () => {
  const element = await page.waitForSelector(selector);
  await frames(page, 30);
  assert.ok(await element.evaluate((e) => e.isConnected), `${selector} is made anew again and again`);
});

// inked counts the pixels of a panel's charts that differ from their ground.
const inked = (page, panel) => page.locator(`#panel-${panel} canvas`).evaluateAll((all) => all.map((canvas) => {
  const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  let n = 0;
  for (let i = 3; i < data.length; i += 4) if (data[i] > 100) n++;
  return n;
}));
const drawn = (page, panel) => eventually(async () => { for (const n of await inked(page, panel)) assert.ok(n > 200, `${panel} is empty: ${n} pixels`); });
const text = (name, content) => ({ name, mimeType: "text/csv", buffer: Buffer.from(content) });
const table = (rows) => "width,colour,kind\n" + Array.from({ length: rows }, (_, i) => `${(i % 17) / 3 + (i % 2)},${["red", "green", "blue"][i % 3]},${i % 2 ? "yes" : "no"}`).join("\n") + "\n";

test("a first visit is one press away from watching gradients being clipped", async (t) => {
  const page = await visit(t);
  assert.match(await page.locator("#card-data .card-line").innerText(), /^digits, 6,000 × 784, 10 classes$/);
  await shot(page, "idle-wide-light");
  for (const panel of ["clipping", "norms", "learning", "epsilon", "curves"]) {
    assert.ok((await page.locator(`#panel-${panel} .empty`).first().innerText()).length > 20, `${panel} does not say what will appear`);
  }
  await start(page);
  await stepsReach(page, 30);
  for (const panel of ["clipping", "norms", "learning", "epsilon", "curves"]) {
    await drawn(page, panel);
    await page.locator(`#panel-${panel} .empty`).first().waitFor({ state: "hidden" });
  }
  await says(page, "#panel-clipping .sentence", /\d+ % of the \d+ examples in this step .* C /);
  await says(page, "#panel-epsilon .sentence", /ε = \d\.\d\d for a run planned to end after .* steps/);
  await finished(page);
  await says(page, "#result", /differential privacy for every training row/);
  await says(page, "#counter", /^0 bytes sent since load$/);
  assert.deepEqual(page.errors, []);
});

test("pause, step, resume, stop and reset", async (t) => {
  const page = await visit(t, { hash: long });
  await start(page);
  await stepsReach(page, 5);
  await page.click("#act-pause");
  await page.locator(".left", { hasText: "paused" }).waitFor();
  // The step that was under way when Pause was pressed may be told after the pause.
  const now = await eventually(async () => {
    const before = await steps(page);
    await frames(page, 30);
    assert.equal(await steps(page), before, "it goes on");
    return before;
  });
  await page.click("#act-step");
  await stepsReach(page, now + 1);
  await frames(page, 30); // in which another step would be told
  assert.equal(await steps(page), now + 1, "one press takes one step");
  await start(page);
  await stepsReach(page, now + 20);
  await page.click("#act-stop");
  await finished(page);
  await says(page, "#result", /stopped/);
  await page.click("#act-reset");
  await page.locator("#result").waitFor({ state: "detached" });
  await eventually(async () => assert.equal(await steps(page), 0));
  await page.locator("#panel-clipping .empty").first().waitFor();
  assert.deepEqual(page.errors, []);
});

test("the address holds the configuration, and gives it back", async (t) => {
  const page = await visit(t, { hash: short + "&unknown_key=1&epochs=oops" });
  await openCard(page, "clipping");
  await page.selectOption("#f-method", "psac");
  await page.fill("#f-r", "0.25");
  await page.waitForFunction(() => location.hash.includes("r=0.25"));
  const hash = await page.evaluate(() => location.hash);
  assert.match(hash, /method=psac/);
  assert.doesNotMatch(hash, /unknown_key/);
  const again = await visit(t, { hash });
  await stands(again, "#f-r", "0.25");
  await again.waitForFunction((hash) => location.hash === hash, hash);
  await again.evaluate(() => { location.hash = "#data=digits&method=constant&max_grad_norm=7&steps=60"; });
  await again.waitForFunction(() => /** @type {HTMLInputElement} */ (document.querySelector("#f-max_grad_norm"))?.value === "7");
  await again.locator("#f-r").waitFor({ state: "detached" }); // a parameter of another method
  assert.deepEqual([...page.errors, ...again.errors], []);
});

test("the plan answers while one types, and a fault stands at its field", async (t) => {
  const page = await visit(t, { hash: short });
  await openCard(page, "privacy");
  const figure = (i) => page.locator(".figures dd:not(.name)").nth(i).innerText();
  const before = await figure(0);
  await page.fill("#f-noise_multiplier", "4");
  await eventually(async () => assert.ok(Number(await figure(0)) < Number(before), "more noise is more private"));
  await page.fill("#f-noise_multiplier", "-1");
  await page.locator("#f-noise_multiplier-fault:not([hidden])").waitFor();
  await stands(page, "#f-noise_multiplier", "-1");
  await page.locator("#f-noise_multiplier[aria-invalid=true]").waitFor();
  await shot(page, "error-field-wide-light");
  await page.fill("#f-noise_multiplier", "");
  await page.locator("#f-noise_multiplier-fault", { hasText: "is needed" }).waitFor();
  await page.fill("#f-noise_multiplier", "one");
  await page.locator("#f-noise_multiplier-fault", { hasText: "is not a number" }).waitFor();
  await page.click("#act-start");
  await page.locator("#run-fault", { hasText: "needs attention" }).waitFor();
  await page.fill("#f-noise_multiplier", "2");
  await page.locator("#f-noise_multiplier-fault").waitFor({ state: "hidden" });
  await page.fill("#f-seed", "7");
  await page.locator("#f-seed-warning:not([hidden])").waitFor();
  await says(page, "#f-seed-warning", /predictable/);
  assert.deepEqual(page.errors, []);
});

test("a table: columns shown and corrected, a bad file takes nothing away", async (t) => {
  const page = await visit(t, { hash: short.replace("256", "32") });
  await openCard(page, "data");
  await page.setInputFiles("#files", text("kinds.csv", table(300)));
  await page.locator("#card-data .card-line", { hasText: "kinds.csv" }).waitFor();
  await eventually(async () => assert.deepEqual(await page.locator(".columns thead th").allInnerTexts(), ["column", "width", "colour", "kind"]));
  await stands(page, "#f-csv-label", "kind");
  await page.selectOption("#column-1", "ignored");
  await page.locator("#card-data .card-line", { hasText: /× 1,/ }).waitFor();
  await page.setInputFiles("#files", text("bad.csv", "width,kind\n1,yes\n2\n3,no\n"));
  await page.locator("#data-fault:not([hidden])").waitFor();
  await says(page, "#data-fault", /bad\.csv/);
  await shot(page, "error-file-wide-light");
  await page.click("#data-back");
  await page.locator("#card-data .card-line", { hasText: "kinds.csv" }).waitFor();
  await start(page);
  await finished(page);
  await says(page, "#card-data .card-line", /kinds\.csv/);
  assert.deepEqual(page.errors, []);
});

test("how a table's numbers are written can be changed", async (t) => {
  const page = await visit(t, { hash: short.replace("256", "32") });
  await openCard(page, "data");
  const rows = Array.from({ length: 200 }, (_, i) => `${(i * 37) % 900 + 100}.${String((i * 7) % 1000).padStart(3, "0")};${i % 50},5;${i % 2 ? "ja" : "nein"}`);
  await page.setInputFiles("#files", text("kunden.csv", `Umsatz;Rest;Kauf\n${rows.join("\n")}\n`));
  const first = page.locator("#table .cells tr:first-child td:not(:empty)").first();
  await page.locator("#table .cells small", { hasText: "100000" }).waitFor();
  await eventually(async () => assert.match(await first.innerText(), /^100\.000\s*→ 100000$/));
  await page.locator("#card-data summary", { hasText: "Advanced" }).first().click();
  await page.selectOption("#f-csv-thousands", "none");
  await page.locator("#table .cells small", { hasText: "100000" }).waitFor({ state: "detached" });
  assert.deepEqual(page.errors, []);
});

test("missing cells are shown, and read as one chooses", async (t) => {
  const page = await visit(t, { hash: short.replace("256", "32") });
  await openCard(page, "data");
  await page.setInputFiles("#files", text("cells.csv", table(300).replace(/\n[\d.]+,/, "\n,")));
  await page.locator("#data-fault", { hasText: "cells.csv" }).waitFor();
  await page.locator("#table .cells small", { hasText: "missing" }).waitFor();
  await page.selectOption("#f-csv-missing", "drop");
  await page.locator("#card-data .card-line", { hasText: "cells.csv" }).waitFor();
  await gone(page, "#data-fault");
  await start(page);
  await finished(page);
  assert.deepEqual(page.errors, []);
});

test("files are dropped on the page", async (t) => {
  const page = await visit(t, { hash: short });
  await openCard(page, "data");
  const transfer = await page.evaluateHandle((content) => {
    const d = new DataTransfer();
    d.items.add(new File([content], "dropped.csv"));
    return d;
  }, table(200));
  await page.dispatchEvent(".drop", "dragover", { dataTransfer: transfer });
  await page.locator(".drop.over").waitFor();
  await page.dispatchEvent(".drop", "drop", { dataTransfer: transfer });
  await page.locator("#card-data .card-line", { hasText: "dropped.csv" }).waitFor();
  await gone(page, ".drop.over");
  await page.selectOption("#f-data", "moons");
  await page.locator("#card-data .card-line", { hasText: "moons" }).waitFor();
  await page.dispatchEvent(".charts", "drop", { dataTransfer: transfer });
  await page.locator("#card-data .card-line", { hasText: "dropped.csv" }).waitFor();
  assert.deepEqual(page.errors, []);
});

// The page is drawn long before its program is there, where the network is slow.
for (const way of ["chosen", "dropped"]) {
  test(`a file ${way} before the program runs is opened when it does`, async (t) => {
    const context = await alone(t, { serviceWorkers: "block" });
    const program = gate();
    await context.route("**/app.wasm*", async (route) => {
      await program.opened;
      await route.continue();
    });
    const page = await context.newPage();
    await page.goto(server.url, { waitUntil: "commit" });
    await page.waitForFunction(() => window.clipscopeEarly && document.querySelector("#files"));
    if (way === "chosen") {
      await page.setInputFiles("#files", text("early.csv", table(40)));
    } else {
      await page.evaluate((text) => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([text], "early.csv"));
        document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
      }, table(40));
    }
    program.open();
    await page.locator("#card-data .card-line", { hasText: "early.csv" }).waitFor({ state: "attached" });
  });
}

test("a broken link is mended, and what of it was not understood is said", async (t) => {
  // On the living page.
  const page = await visit(t, { hash: short });
  await gone(page, "#link-lost");
  await page.evaluate(() => { location.hash = "#steps=50&method=%2"; });
  await page.locator("#link-lost", { hasText: "method" }).waitFor();
  await page.locator(".steps", { hasText: "/ 50" }).waitFor();
  assert.deepEqual(page.errors, []);
  // When it is opened, and on other pages.
  for (const [hash, lost] of [["#%", "%"], ["#method=%2", "method"], ["#steps=40&learning_rate=%zz&model.kind=softmax", "learning_rate"], ["#method=nonsense&steps=40", "method"], ["#steps=40&no_such=1&method=constant", "no_such"]]) {
    await anew(page, hash);
    await says(page, "#link-lost", new RegExp(`left out: .*${lost}`));
    if (hash.includes("steps=40")) await says(page, ".steps", /\/ 40/);
    assert.deepEqual(page.errors, [], hash);
  }
  await page.goto(server.url + "help#%zz");
  await page.locator("h1").waitFor();
  assert.deepEqual(page.errors, []);
});

test("a large file shows how far it is, and can be cancelled", async (t) => {
  const page = await visit(t, { hash: short });
  await openCard(page, "data");
  // 200 MB of rows; the file is made of one part, over and over.
  await page.evaluate(() => {
    const part = new Blob(["0.123,0.456,0.789,yes\n0.321,0.654,0.987,no\n".repeat(20_000)]);
    const files = new DataTransfer();
    files.items.add(new File(["a,b,c,kind\n", ...Array(230).fill(part)], "large.csv"));
    const input = /** @type {HTMLInputElement} */ (document.querySelector("#files"));
    input.files = files.files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  });
  await page.locator(".loading p", { hasText: /\d+ %: large\.csv \(\d+ MB of \d+ MB\), learning/ }).waitFor();
  await page.locator(".loading progress").first().waitFor();
  await page.click(".loading button");
  await page.locator("#card-data .loading").first().waitFor({ state: "hidden" });
  await says(page, "#card-data .card-line", /^digits/);
  await stands(page, "#f-data", "digits");
  await gone(page, "#data-fault");
  await start(page);
  await finished(page);
  assert.deepEqual(page.errors, []);
});

test("MNIST through the file input", async (t) => {
  if (!hasShared("data", "mnist")) return t.skip("no shared data");
  const page = await visit(t, { hash: short });
  await openCard(page, "data");
  const dir = path.join(shared, "data", "mnist");
  await page.setInputFiles("#files", fs.readdirSync(dir).filter((n) => n.endsWith(".gz")).map((n) => path.join(dir, n)));
  await page.locator("#card-data .card-line", { hasText: "60,000 × 784" }).waitFor();
  await eventually(async () => assert.equal(await page.locator(".thumbs canvas").count(), 10));
  await eventually(async () => {
    const dark = await page.locator(".thumbs canvas").first().evaluate((c) => Math.max(...c.getContext("2d").getImageData(0, 0, c.width, c.height).data.filter((_, i) => i % 4 === 0)));
    assert.ok(dark > 200, "the first image is not painted");
  });
  await shot(page, "data-mnist-wide-light");
  assert.deepEqual(page.errors, []);
});

// A canvas forgets what is painted when it is given another size.
test("pictures of another size than those before are painted", async (t) => {
  const page = await visit(t, { hash: short });
  await openCard(page, "data");
  await page.locator(".thumbs canvas").first().waitFor();
  const idx = (/** @type {number[]} */ shape, /** @type {(i: number) => number} */ value) => Buffer.from([0, 0, 8, shape.length, ...shape.flatMap((n) => [0, 0, 0, n]), ...Array.from({ length: shape.reduce((a, b) => a * b) }, (_, i) => value(i))]);
  await page.setInputFiles("#files", [
    { name: "train-images-idx3-ubyte", mimeType: "application/octet-stream", buffer: idx([60, 4, 6], (i) => i % 256) },
    { name: "train-labels-idx1-ubyte", mimeType: "application/octet-stream", buffer: idx([60], (i) => i % 3) },
  ]);
  await page.locator("#card-data .card-line", { hasText: "× 24" }).waitFor();
  await eventually(async () => {
    const seen = await page.locator(".thumbs canvas").first().evaluate((c) => [c.width, c.height, ...c.getContext("2d").getImageData(5, 3, 1, 1).data]);
    assert.equal(seen.slice(0, 2).join("×"), "6×4");
    assert.ok(seen[2] > 0, `its last pixel is ${seen.slice(2)}`);
  });
  assert.deepEqual(page.errors, []);
});

async function saved(page, click) {
  const [download] = await Promise.all([page.waitForEvent("download"), click()]);
  return { name: download.suggestedFilename(), text: fs.readFileSync(await download.path(), "utf8") };
}

test("exports hold released values, and diagnostics only when asked for", async (t) => {
  const page = await visit(t, { hash: short });
  await start(page);
  await finished(page);
  const plain = await saved(page, () => page.click("#save-json"));
  const run = JSON.parse(plain.text);
  assert.equal(run.series.max_grad_norm.length, 60);
  assert.ok(run.epsilon > 0 && /differential privacy/.test(run.guarantee));
  assert.deepEqual(plain.text.match(/diagnostic|test_|train_|batch_size"\s*:\s*\[/g), null);
  const csv = await saved(page, () => page.click("#save-csv"));
  assert.equal(csv.text.trim().split("\n").length, 61);
  assert.equal(csv.text.split("\n")[0], "step,max_grad_norm,epsilon,noisy_grad_norm,learning_rate");
  const model = JSON.parse((await saved(page, () => page.click("#save-model-json"))).text);
  assert.equal(model.parameters.length, 7850);
  await page.check("#with-diagnostics");
  const all = await saved(page, () => page.click("#save-csv"));
  assert.match(all.text, /diagnostic_clip_fraction/);
  assert.match(all.name, /not-private/);
  assert.deepEqual(page.errors, []);
});

test("a model is written with all its numbers, whatever they are", async (t) => {
  const page = await visit(t);
  const result = { guarantee: "none", epsilon: 2, delta: 1e-5, accountant: "pld", steps: 3 };
  const { name, text } = await saved(page, () => page.evaluate((result) => {
    const parameters = Float32Array.from({ length: 150_000 }, (_, i) => i / 7);
    parameters[70_000] = NaN;
    const tensors = [{ name: "weight", shape: [14_999, 10] }, { name: "bias", shape: [10] }];
    const apply = { task: "classification", outputs: 10, features: 14_999, scaling: { kind: "none" }, layers: [{ layer: "dense", shape: [10], parameters: 150_000, tensors }] };
    return clipscopePage.ui.saveModel("json", "m.json", { ...result, released: { parameters, apply } }, '{"method":"constant"}', () => {});
  }, result));
  const { parameters, config, ...rest } = JSON.parse(text);
  assert.equal(name, "m.json");
  assert.equal(config.method, "constant");
  for (const [key, value] of Object.entries(result)) assert.equal(rest[key], value, key);
  assert.equal(parameters.length, 150_000);
  assert.deepEqual(parameters[70_000], { $numberDouble: "NaN" });
  assert.ok(parameters.every((x, i) => i === 70_000 || Math.fround(x) === Math.fround(i / 7)));
  assert.deepEqual(page.errors, []);
});

test("the help does not end the run", async (t) => {
  const page = await visit(t, { hash: long });
  await start(page);
  await stepsReach(page, 5);
  const before = await steps(page);
  await page.click("nav >> text=Help");
  await page.locator("h1", { hasText: "Reading a private run" }).waitFor();
  await page.click("nav >> text=Train");
  await stepsReach(page, before + 20);
  await drawn(page, "clipping"); // again, after coming back
  await eventually(async () => assert.equal(await page.locator(".uplot").count(), 7));
  assert.deepEqual(page.errors, []);
});

test("by keyboard alone", async (t) => {
  const page = await visit(t, { hash: short });
  const focused = () => page.evaluate(() => document.activeElement.id || document.activeElement.className || document.activeElement.tagName);
  await page.keyboard.press("Tab");
  assert.match(await focused(), /skip/, "the first stop skips to the run");
  await page.keyboard.press("Enter");
  for (let i = 0; i < 40 && await focused() !== "act-start"; i++) await page.keyboard.press("Tab");
  assert.equal(await focused(), "act-start");
  assert.notEqual(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle), "none", "the focus cannot be seen");
  await page.keyboard.press("Enter");
  await finished(page);
  for (let i = 0; i < 40 && await focused() !== "plot"; i++) await page.keyboard.press("Tab");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Home");
  for (const [i, want] of [/^step 1\s+clipped/, /^step 1\s+C 1/].entries()) { // the charts over steps share one cursor
    await eventually(async () => assert.match(await page.locator("#panel-clipping .readout").nth(i).innerText(), want));
  }
  await openCard(page, "privacy");
  await settled(page, "#s-length-steps");
  await page.focus("#s-length-steps");
  await page.keyboard.press("ArrowLeft");
  await page.locator("#f-epochs").waitFor();
  assert.deepEqual(page.errors, []);
});

test("nothing essential is below the fold or beside the page", async (t) => {
  const page = await visit(t, { hash: short });
  for (const hash of [short, long]) {
    if (hash === long) await anew(page, hash);
    await eventually(async () => {
      const fold = await page.evaluate(() => ({
        page: document.documentElement.scrollWidth, lowest: Math.max(...[...document.querySelectorAll(".panel, .runbar, .foot")].map((e) => e.getBoundingClientRect().bottom)),
      }));
      assert.ok(fold.page <= 1280 && fold.lowest <= 801, JSON.stringify(fold));
    });
  }
  const phone = await visit(t, { viewport: narrow, hasTouch: true });
  await phone.evaluate(() => {
    const w = /** @type {any} */ (window);
    w.watchers = [];
    w.CloseWatcher = class extends w.CloseWatcher { constructor() { super(); w.watchers.push(this); } };
  });
  const fits = (what) => eventually(async () => assert.equal(await phone.evaluate(() => document.documentElement.scrollWidth), 390, `${what} is wider than the page`));
  await fits("the page");
  await shot(phone, "idle-narrow-light");
  // What a phone closes things with closes the setup, and not the page.
  await phone.click(".setup");
  await phone.locator(".sheet-open").waitFor();
  await phone.evaluate(() => /** @type {any} */ (window).watchers.at(-1).requestClose());
  await phone.locator(".sheet-open").waitFor({ state: "detached" });
  await phone.click(".setup");
  await phone.locator(".sheet-open").waitFor();
  await phone.keyboard.press("Escape");
  await phone.locator(".sheet-open").waitFor({ state: "detached" });
  await phone.click(".setup");
  for (const card of ["data", "model", "clipping", "privacy", "optimiser"]) {
    await openCard(phone, card);
    await fits(card);
    await eventually(async () => {
      const out = await phone.evaluate(() => [...document.querySelectorAll(".experiment *")].filter((e) => e.getBoundingClientRect().right > 391).map((e) => e.className || e.tagName));
      assert.deepEqual(out, [], `${card}: beside the page`);
    });
  }
  await shot(phone, "sheet-narrow-light");
  await openCard(phone, "privacy");
  const epsilon = await phone.inputValue("#f-target_epsilon");
  await phone.fill("#f-target_epsilon", "-1");
  await phone.locator("#f-target_epsilon-fault:not([hidden])").waitFor();
  await shot(phone, "error-narrow-light");
  await phone.fill("#f-target_epsilon", epsilon);
  await phone.locator("#f-target_epsilon-fault").waitFor({ state: "hidden" });
  await eventually(async () => {
    const bar = await phone.locator(".runbar").boundingBox();
    assert.ok(Math.abs(bar.y + bar.height - 844) < 1, "the run bar is not at the bottom");
  });
  await start(phone);
  await stepsReach(phone, 150);
  await gone(phone, ".experiment"); // the sheet, which would cover the run
  await shot(phone, "running-narrow-light");
  await finished(phone);
  await fits("the end");
  await shot(phone, "finished-narrow-light");
  assert.deepEqual(phone.errors, []);
});

// contrast finds text below 4.5:1 on its ground.
const contrast = (page) => page.evaluate(() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = (c) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = c;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = (c) => c.slice(0, 3).map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const c = rgb(getComputedStyle(e).backgroundColor);
      if (c[3] === 255) return c;
    }
    return [255, 255, 255];
  };
  const bad = [];
  for (const e of document.querySelectorAll("body *")) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || !e.checkVisibility() || e.matches(":disabled, :disabled *, option, .visually-hidden")) continue;
    const [a, b] = [light(rgb(getComputedStyle(e).color)), light(ground(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) bad.push(`${e.className || e.tagName} “${e.textContent.trim().slice(0, 20)}” ${ratio.toFixed(2)}`);
  }
  return bad;
});

const legible = (page, what) => eventually(async () => assert.deepEqual(await contrast(page), [], what));

test("contrast in light and dark, running and finished", async (t) => {
  const page = await visit(t, { colorScheme: "light" });
  for (const colorScheme of ["light", "dark"]) {
    if (colorScheme === "dark") {
      await page.emulateMedia({ colorScheme });
      await anew(page, "");
    }
    for (const card of ["data", "model", "clipping", "privacy", "optimiser"]) {
      await openCard(page, card);
      await legible(page, `${colorScheme}, ${card}`);
    }
    if (colorScheme === "dark") await shot(page, "idle-wide-dark");
    await openCard(page, "clipping");
    await frames(page, 4); // the card is brought in sight
    await page.evaluate(() => document.querySelector(".experiment").scrollTo(0, 0));
    await start(page);
    await stepsReach(page, 150);
    await shot(page, `running-wide-${colorScheme}`);
    if (colorScheme === "light") await portrait(page);
    await finished(page);
    await legible(page, `${colorScheme}, finished`);
    await shot(page, `finished-wide-${colorScheme}`);
    assert.deepEqual(page.errors, []);
  }
  await page.setViewportSize(narrow);
  await anew(page, short);
  await start(page);
  await finished(page);
  await legible(page, "dark, narrow");
  await shot(page, "finished-narrow-dark");
});

// portrait is the README's picture.
async function portrait(page) {
  const name = path.join(root, "assets/screenshot.png");
  if (!process.env.CLIPSCOPE_SCREENSHOT && fs.existsSync(name)) return;
  await page.screenshot({ path: name });
  assert.ok(fs.statSync(name).size <= 300_000, "the README's picture is too large");
}

test("light and dark by hand, and kept", async (t) => {
  const page = await visit(t, { hash: short, colorScheme: "light" });
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const before = await ground();
  await page.click('[aria-label="Light or dark"]');
  const dark = await eventually(async () => {
    const dark = await ground();
    assert.notEqual(dark, before);
    return dark;
  });
  await page.reload();
  await page.locator("#act-start").waitFor();
  await eventually(async () => assert.equal(await ground(), dark));
});

test("motion is left out where it is not wanted", async (t) => {
  const page = await visit(t, { hash: short, reducedMotion: "reduce" });
  const moving = await page.evaluate(() => [...document.querySelectorAll("*")].filter((e) => getComputedStyle(e).transitionDuration.split(",").some((d) => parseFloat(d) > 0)).length);
  assert.equal(moving, 0);
});

test("every component stands alone on the stories page", async (t) => {
  const page = await open(await alone(t), server.url + "stories");
  await page.locator(".story canvas").first().waitFor();
  await eventually(async () => {
    assert.ok(await page.locator(".story").count() >= 15);
    assert.deepEqual(await page.evaluate(() => [...document.querySelectorAll(".story")].filter((s) => s.getBoundingClientRect().height < 60).map((s) => s.textContent.slice(0, 40))), []);
  });
  await page.screenshot({ path: path.join(results, "stories.png"), fullPage: true });
  // It is drawn once: a story that is another each time has the page draw itself for ever.
  const canvas = await page.locator(".story canvas").first().elementHandle();
  await frames(page, 30);
  assert.ok(await canvas.evaluate((e) => e.isConnected), "the stories are drawn again and again");
  assert.deepEqual(page.errors, []);
});
