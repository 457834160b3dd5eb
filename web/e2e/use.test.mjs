// A saved model in use: in the scripting API, and on its page.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { answers, load, table } from "../predict.mjs";
import { controlled, eventually, frames, narrow, percent, ready, results, stage, start, wide } from "./browser.mjs";

const { visit } = await stage();

// people are n rows of a table with categories and missing cells.
function people(n, seed) {
  let state = seed;
  const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  const rows = Array.from({ length: n }, () => {
    const age = 18 + Math.floor(60 * random()), hours = (60 * random()).toFixed(1), colour = ["red", "blue", "green"][Math.floor(3 * random())];
    return [random() < 0.1 ? "" : age, random() < 0.1 ? "NA" : hours, random() < 0.1 ? "" : colour, age + Number(hours) > 78 ? ">50K" : "<=50K"].join(",");
  });
  return ["age,hours,colour,income", ...rows].join("\n") + "\n";
}

// saved is what the page saves of a model that it trains on a table, and how that fared.
const saved = (page, train, tests) => page.evaluate(async ([train, tests]) => {
  const config = { csv: { label: "income", missing: "indicator" }, noise_multiplier: 0.5, steps: 40, expected_batch_size: 150 };
  const run = await window.clipscope.train(config, { train: [new File([train], "people.csv")], test: [new File([tests], "others.csv")] });
  const result = await run.done, { released: { apply, parameters }, guarantee, epsilon, delta, accountant, steps } = result;
  const text = JSON.stringify({ config, guarantee, epsilon, delta, accountant, steps, apply, parameters: Array.from(parameters, (x) => +x.toPrecision(9)) });
  return { text, accuracy: result.test_accuracy, rows: result.test_rows, area: result.test_scores.roc_auc };
}, [train, tests]);

// close compares two tables of answers: the columns of the second are the last of the first.
function close(have, want, own) {
  assert.equal(have.length, want.length);
  for (const [i, w] of want.entries()) {
    const h = have[i].slice(own, own + w.length);
    for (const [k, cell] of w.entries()) {
      if (i === 0 || Number.isNaN(Number(cell))) assert.equal(h[k], cell, `row ${i}`);
      else assert.ok(Math.abs(h[k] - cell) <= 1e-5, `row ${i}: ${h}, and ${w}`);
    }
  }
}

test("a script loads a model, has rows and tables answered, and compares with labels", async (t) => {
  const page = await visit(t, "use"), tests = people(1000, 2);
  const model = await saved(page, people(400, 1), tests);
  const left = [];
  // Workers fetch the scripts of the page itself, where nothing keeps them yet.
  page.on("request", (r) => { if (/^http/.test(r.url()) && !(r.method() === "GET" && /^http:\/\/127\.0\.0\.1:\d+\/(web\/[\w-]+\.(js|wasm)|wasm_exec\.js)$/.test(r.url()))) left.push(r.url()); });
  const out = await page.evaluate(async ([text, tests]) => {
    const m = await window.clipscope.load(text), csv = new File([tests], "rows.csv"), told = [];
    const blob = await m.predict(csv, (p) => told.push(p.phase));
    const typed = await m.predict([{ age: 70, hours: 50, colour: "red" }, [20, "1.5", "mauve", ""], { age: "old" }, { size: 1 }]);
    const exam = await m.evaluate([csv]), over = new AbortController();
    const off = await m.predict(csv, () => over.abort(), over.signal).catch((e) => e.name);
    const again = await m.predict([{ age: 70, hours: 50, colour: "red" }]);
    const refused = [];
    for (const f of [() => window.clipscope.load(new File([text.slice(0, 100)], "cut.json")), () => window.clipscope.load(text.replace('"first":0', '"first":9')), () => window.clipscope.load(7), () => m.predict("x"),
      () => m.predict(new File(["a,b\n1,2\n"], "other.csv")), () => m.evaluate([new File(["age,hours,colour,income\n1,2,red,rich\n"], "rich.csv")]),
      () => { const gone = new Float32Array(3); structuredClone(gone, { transfer: [gone.buffer] }); return m.predict([gone]); }]) refused.push(await f().catch((e) => e.message));
    m.dispose();
    refused.push(await m.predict([[1]]).catch((e) => e.message));
    return { info: m.info, summary: blob.summary, csv: await blob.text(), type: blob.type, told, typed, exam, off, again, refused };
  }, [model.text, tests]);
  close(table(out.csv), table(answers(load(model.text), tests)), 4);
  assert.deepEqual([out.summary.rows, out.summary.problems, out.type, out.told.length > 0], [1000, 0, "text/csv", true]);
  assert.deepEqual([out.exam.test_rows, out.exam.test_accuracy, out.exam.test_scores.roc_auc], [model.rows, model.accuracy, model.area]);
  assert.deepEqual(out.info.classes, ["<=50K", ">50K"]);
  assert.equal(out.info.label, "income");
  assert.equal(out.typed[0].answer, ">50K");
  assert.deepEqual(out.typed[1].unknown, ["colour"]);
  assert.match(out.typed[2].problem, /"age"\): expected a number/);
  assert.match(out.typed[3].problem, /no column "size"/);
  assert.equal(out.off, "AbortError");
  assert.equal(out.again[0].answer, ">50K");
  for (const [i, said] of [/cut\.json: .*byte/, /feature/, /Give a model/, /Give a list of rows/, /expected a column "age"/, /rich\.csv, row 2, column 4 \("income"\).*"rich"/, /detached/, /disposed of/].entries()) assert.match(out.refused[i], said);
  assert.deepEqual(left, []);
  assert.deepEqual(page.errors, []);
});

test("the model of a run is used: a digit is drawn, a table answered, a row typed, labels compared, without a network", async (t) => {
  const page = await visit(t, "#data=digits&model.kind=softmax&noise_multiplier=0.6&expected_batch_size=400&steps=80&learning_rate=0.5", { serviceWorkers: "allow" });
  await start(page);
  await page.locator("#use-model").waitFor();
  await controlled(page);
  await page.context().setOffline(true);
  await page.locator("#use-model").click();
  await page.locator("#about").waitFor();
  await eventually(async () => assert.match(await page.locator("#about").textContent(), /one of 10 classes/));
  await page.waitForURL(/\/use$/);

  const box = await page.locator("#pad").boundingBox();
  await page.mouse.move(box.x + 0.5 * box.width, box.y + 0.2 * box.height);
  await page.mouse.down();
  await page.mouse.move(box.x + 0.5 * box.width, box.y + 0.8 * box.height, { steps: 8 });
  await page.mouse.up();
  await page.waitForFunction(() => document.querySelector("#part-picture .said .figure")?.textContent === "1");
  await page.locator("#clear-picture").click();
  await page.locator("#part-picture .said .figure").waitFor({ state: "detached" });
  await page.setInputFiles("#use-picture", { name: "white.png", mimeType: "image/png", buffer: fs.readFileSync(path.join(import.meta.dirname, "../../assets/icon-192.png")) });
  await page.waitForFunction(() => document.querySelector("#part-picture .said .figure") && /white\.png/.test(document.querySelector(".seen figcaption").textContent));
  await page.setInputFiles("#use-picture", { name: "no.png", mimeType: "image/png", buffer: Buffer.from("no picture") });
  await page.locator("#part-picture .fault", { hasText: "no.png is no picture" }).waitFor();

  const tests = people(300, 2), model = await saved(page, people(400, 1), tests);
  await page.setInputFiles("#use-model", { name: "income.json", mimeType: "application/json", buffer: Buffer.from(model.text) });
  await page.setInputFiles("#use-table", { name: "rows.csv", mimeType: "text/csv", buffer: Buffer.from(tests) });
  const download = page.waitForEvent("download");
  await page.locator("#save-answers").click();
  const file = await download;
  assert.equal(file.suggestedFilename(), "rows-answers.csv");
  close(table(fs.readFileSync(await file.path(), "utf8")), table(answers(load(model.text), tests)), 4);

  await page.locator("#cell-0").fill("-1e400");
  await page.locator("#cell-1").fill("55");
  await page.locator("#cell-2").selectOption("red");
  await page.locator("#part-row .said", { hasText: 'found "-1e400"' }).waitFor();
  await page.locator("#cell-2").selectOption({ label: "choose…" });
  await page.locator("#cell-0").fill("70");
  await page.locator("#part-row .said", { hasText: "1 field to go" }).waitFor();
  await page.locator("#cell-2").selectOption("red");
  await page.locator("#part-row .said .figure", { hasText: ">50K" }).waitFor();
  await page.locator("#cell-0").fill("999");
  await page.locator("#cell-0-counted", { hasText: /^counted as \d+$/ }).waitFor();
  await page.locator("#cell-0").fill("70");
  await page.locator("#cell-0-counted").waitFor({ state: "hidden" });
  await page.setInputFiles("#use-exam", { name: "rows.csv", mimeType: "text/csv", buffer: Buffer.from(tests) });
  await page.locator("#exam .counts").waitFor();
  await eventually(async () => assert.match(await page.locator("#exam .counts").textContent(), new RegExp(`accuracy${percent(model.accuracy)}`)));
  await page.setInputFiles("#use-model", { name: "bad.json", mimeType: "application/json", buffer: Buffer.from("{}") });
  await page.locator("#model-fault", { hasText: "bad.json" }).waitFor();
  assert.match(await page.locator("#about").textContent(), /income\.json/, "the model that was open stays");
  assert.deepEqual(page.errors, []);
  const kept = (name) => eventually(async () => assert.equal(await page.evaluate(async () => (await clipscopePage.use.kept())[0]?.name), name));
  await kept("income.json");
  await page.reload();
  await page.locator("#about", { hasText: "income.json" }).waitFor(); // nothing is lost
  await eventually(async () => assert.match(await page.locator("#kept").innerText(), /until you close it/));

  for (const [name, viewport] of Object.entries({ wide, narrow, small: { width: 320, height: 568 } })) {
    await page.setViewportSize(viewport);
    await eventually(async () => assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `something scrolls sideways, ${name}`));
    await page.screenshot({ path: path.join(results, `use-${name}.png`) });
  }
  await page.locator("#close-model").click();
  await page.locator("#none").waitFor();
  await kept(undefined);
  await page.reload();
  await ready(page);
  await page.locator("#none").waitFor();
  await kept(undefined); // the page has asked before
  await frames(page, 30);
  assert.equal(await page.locator("#about").count(), 0);
});

test("the line between two classes is drawn elsewhere: rows and tables are answered by it", async (t) => {
  const page = await visit(t, "use"), tests = people(300, 4);
  const model = await saved(page, people(400, 1), tests), loaded = load(model.text);
  const p = (/** @type {string[]} */ [age, hours, colour]) => loaded.predict({ age, hours, colour }).outputs[loaded.apply.classes.indexOf(">50K")];
  const all = tests.trim().split("\n").slice(1).map((row) => row.split(","));
  await page.setInputFiles("#use-model", { name: "m.json", mimeType: "application/json", buffer: Buffer.from(model.text) });
  await page.locator("#part-line").waitFor();
  const between = all.find((row) => row.slice(0, 3).every((c) => c && c !== "NA") && p(row) > 0.2 && p(row) < 0.45);
  assert.ok(between);
  for (const [id, cell] of [["age", between[0]], ["hours", between[1]]]) await page.locator("#part-row .field", { hasText: id }).locator("input").fill(cell);
  await page.locator("#part-row .field", { hasText: "colour" }).locator("select").selectOption(between[2]);
  const says = (/** @type {RegExp} */ want) => eventually(async () => assert.match(await page.innerText("#part-row .said"), want));
  await says(/<=50K/);
  await page.setInputFiles("#use-table", { name: "rows.csv", mimeType: "text/csv", buffer: Buffer.from(tests) });
  await page.locator("#answers").waitFor();
  await page.selectOption("#line-class", { label: ">50K" });
  await page.fill("#line-from", "15");
  await page.locator("#line-from").blur();
  await says(/^(income\s+)?>50K\s+“>50K” is answered from 15\.0 % on\./);
  await eventually(async () => assert.match(await page.innerText("#table-fault"), /The line between the classes has moved: choose rows\.csv again\./));
  await page.setInputFiles("#use-table", { name: "rows.csv", mimeType: "text/csv", buffer: Buffer.from(tests) });
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#save-answers")]);
  const [, ...answered] = fs.readFileSync(await download.path(), "utf8").trim().split(/\r?\n/).map((row) => row.split(","));
  const said = answered.map((row) => row[4]), want = all.map((row, i) => Math.abs(p(row) - 0.15) < 1e-5 ? said[i] : p(row) >= 0.15 ? ">50K" : "<=50K");
  assert.deepEqual(said, want);
  await page.fill("#line-from", "1,5x");
  await page.locator("#line-from").blur();
  await eventually(async () => assert.match(await page.innerText("#line-fault"), /no probability/));
  await page.locator("#part-line").scrollIntoViewIfNeeded();
  await page.screenshot({ path: path.join(results, "line-wide-light.png") });
  await page.setViewportSize(narrow);
  await page.locator("#part-line").scrollIntoViewIfNeeded();
  await page.screenshot({ path: path.join(results, "line-narrow-light.png") });
  assert.deepEqual(page.errors, []);
});
