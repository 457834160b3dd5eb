// Tables as their owners have them: what the page names is what it trains on, and
// before anything is spent one has seen how it is read.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { load } from "../predict.mjs";
import { eventually, frames, percent, results, root, stage, start } from "./browser.mjs";
import { random } from "./trials.mjs";

const { visit: arrive } = await stage();

// visit opens the page with its card of the data open.
/** @param {any} t @param {string} [hash] @param {any} [options] */
async function visit(t, hash = "", options = {}) {
  const page = await arrive(t, hash, options);
  await page.locator("#card-data .card-line:has-text('×'), #data-fault:not([hidden])").first().waitFor();
  if (await page.locator("#card-data .card-head").getAttribute("aria-expanded") === "false") await page.click("#card-data .card-head");
  return page;
}

const line = (page, text) => page.locator("#card-data .card-line", { hasText: text }).waitFor();
const startable = (page, is = true) => page.locator(`#act-start[aria-disabled=${!is}]`).waitFor();
const says = (page, selector, want) => eventually(async () => assert.match(await page.locator(selector).innerText(), want));
const stands = (page, selector, want) => eventually(async () => assert.equal(await page.inputValue(selector), want));
const hasAddress = (page, want) => page.waitForFunction((want) => decodeURIComponent(location.hash.replaceAll("+", " ")).includes(want), want);
const csv = (name, content) => ({ name, mimeType: "text/csv", buffer: Buffer.from(content) });
const plain = (rows = 200) => "width,colour,kind\n" + Array.from({ length: rows }, (_, i) => `${i % 17},${["red", "green"][i % 2]},${i % 2 ? "yes" : "no"}`).join("\n") + "\n";
// cells are the rows of the preview, the first or the last: what stands in the file, and what it is read as.
const cells = (page, which = ".cells:not(.last)") => page.locator(`#table ${which} tr`).evaluateAll((rows) => rows.map((r) => [...r.querySelectorAll("td")].map((td) => [td.firstChild?.textContent, td.querySelector("small")?.textContent.slice(2)])));
const kinds = (page) => page.locator("#table tbody:not(.cells) tr:first-child td").evaluateAll((all) => all.map((td) => /** @type {any} */ (td.firstElementChild)?.value ?? td.textContent));

test("a run does not start on other data than the page names", async (t) => {
  const page = await visit(t);
  await line(page, "digits");
  await page.setInputFiles("#files", csv("bad.csv", "width,kind\n1,yes\n2\n3,no\n"));
  await page.locator("#data-fault:not([hidden])").waitFor();
  await stands(page, "#f-data", "files");
  await line(page, "cannot be read");
  await startable(page, false);
  await says(page, "#run-lack", /no data to train on yet: see Data/);
  await page.locator("#act-start[aria-describedby=run-lack]").waitFor();
  await page.click("#act-start", { force: true });
  await page.keyboard.press("Enter");
  await frames(page, 20); // in which a run that began would say so
  await says(page, ".left", /waiting for data/);
  await page.screenshot({ path: path.join(results, "data-refused-wide-light.png") });
  // What was open before is a press away, and so is another file.
  await page.click("#data-back");
  await line(page, "digits");
  await stands(page, "#f-data", "digits");
  await startable(page);
  await page.locator("#run-lack").waitFor({ state: "hidden" });
  await page.setInputFiles("#files", csv("good.csv", plain()));
  await line(page, "good.csv");
  await start(page);
  await page.locator("#result").waitFor();
  assert.deepEqual(page.errors, []);
});

test("a link to files says everywhere that they are not there", async (t) => {
  const page = await visit(t, "#data=files&model.kind=softmax&steps=20");
  await page.locator("#data-fault", { hasText: "Local files are kept neither" }).waitFor();
  await stands(page, "#f-data", "files");
  await line(page, "none yet");
  await startable(page, false);
  await says(page, "#run-lack", /no data to train on yet/);
  await page.reload();
  await page.locator("#data-fault", { hasText: "Local files are kept neither" }).waitFor();
  await line(page, "none yet");
  await stands(page, "#f-data", "files");
  await page.setInputFiles("#files", csv("good.csv", plain()));
  await line(page, "good.csv");
  await startable(page);
  assert.deepEqual(page.errors, []);
});

// kunden is what German programs write: Windows-1252, semicolons, decimal commas,
// points between thousands, days first, words and blanks for missing values, a row that broke.
function kunden(n = 400, label = (i) => i % 2 ? "ja" : "nein") {
  const truth = Array.from({ length: n }, (_, i) => {
    const cents = (i * 791_931) % 12_345_600, y = 2020 + i % 5, m = 1 + i % 12, d = 1 + i % 28;
    const two = (x) => String(x).padStart(2, "0");
    const umsatz = String(Math.floor(cents / 100)).replace(/\B(?=(\d{3})+$)/g, ".") + "," + two(cents % 100);
    const alter = { 3: "NA", 9: "k.A.", 12: "", 14: "k.\xa0A." }[i % 17] ?? String(18 + i % 60);
    const day = i === 1 ? [2024, 12, 31] : [y, m, d];
    return {
      cells: [String(10_001 + i), i === 0 ? "1.234,56" : umsatz, alter, `${two(day[2])}.${two(day[1])}.${day[0]}`, ["Köln", "Düsseldorf", "Gießen"][i % 3], `${i % 10},5`, label(i)],
      umsatz: i === 0 ? 1234.56 : cents / 100, alter, day: Date.UTC(day[0], day[1] - 1, day[2]) / 864e5, iso: `${day[0]}-${two(day[1])}-${two(day[2])}`,
    };
  });
  const rows = truth.map((r) => r.cells.join(";"));
  rows.splice(50, 0, "10050;abgebrochen");
  const text = "sep=;\r\nKundennummer;Umsatz in €;Alter;Kauf am;Ort;Größe;Kündigung\r\n" + rows.join("\r\n") + "\r\n";
  return { truth, file: { name: "Kunden Düsseldorf.csv", mimeType: "text/csv", buffer: Buffer.from(text.replaceAll("€", "\x80"), "latin1") } };
}

test("a messy German table, from the file to a private model, by clicks", async (t) => {
  const { truth, file } = kunden();
  const page = await visit(t);
  await line(page, "digits");
  await page.locator("#files").evaluate((input) => input.addEventListener("change", () => Object.assign(window, { clipscopeTestFile: /** @type {any} */ (input).files[0] }), { capture: true }));
  await page.setInputFiles("#files", file);
  await page.locator("#data-fault", { hasText: "row 52: expected 7 cells" }).waitFor();
  await page.selectOption("#f-csv-bad_rows", "skip");
  await page.locator("#data-fault", { hasText: "missing cells in all: Alter" }).waitFor();
  // Of what is refused the page shows what it knows.
  await says(page, "#table .help", /Windows-1252, separated by semicolons, .* cannot be read as it is/);
  await page.selectOption("#f-csv-missing", "indicator");
  await line(page, "Kunden Düs");

  // Nothing is misread.
  const { shown, last } = await eventually(async () => {
    assert.deepEqual(await page.locator("#table thead th").allInnerTexts(), ["column", "Kundennummer", "Umsatz in €", "Alter", "Kauf am", "Ort", "Größe", "Kündigung"]);
    assert.deepEqual(await kinds(page), ["ignored", "numeric", "numeric", "numeric", "categorical", "numeric", "label"]);
    const shown = await cells(page), last = await cells(page, ".cells.last");
    assert.deepEqual([shown.length, last.length], [10, 3]);
    // As a spreadsheet has them, which shows the header and the row that is left out.
    assert.deepEqual(await page.locator("#table .cells.last th").allInnerTexts(), ["400", "401", "402"]);
    return { shown, last };
  });
  [...shown, ...last].forEach((row, k) => {
    const i = k < 10 ? k : truth.length - 13 + k;
    const want = truth[i];
    assert.deepEqual(row.map(([cell]) => cell), want.cells);
    const [, umsatz, alter, day, ort, size] = row.map(([, value]) => value);
    assert.equal(Math.fround(umsatz), Math.fround(want.umsatz));
    assert.equal(alter, /\d/.test(want.alter) ? undefined : "missing");
    assert.equal(day, `${want.iso} = day ${want.day}`);
    assert.equal(ort, undefined);
    assert.equal(size, `${i % 10}.5`);
  });
  // What a script is told of the file's end is the same.
  const told = await page.evaluate(async () => {
    const picked = /** @type {any} */ (window).clipscopeTestFile;
    const handle = await clipscope.open({ train: [picked] }, { missing: "indicator", bad_rows: "skip" });
    handle.close();
    return handle.summary.preview;
  });
  assert.deepEqual([told.last_numbers, told.of], [[400, 401, 402], 400]);
  told.last_values.forEach((row, k) => {
    const want = truth[397 + k];
    assert.equal(Math.fround(row[1]), Math.fround(want.umsatz));
    assert.equal(row[2], /\d/.test(want.alter) ? want.alter : "(missing)");
    assert.deepEqual([row[0], row[3], row[4], row[5], row[6]], ["", `${want.iso} = day ${want.day}`, want.cells[4], want.cells[5].replace(",", "."), want.cells[6]]);
  });
  for (const said of [/read as Windows-1252/, /Kundennummer numbers the rows and is ignored/, /Kündigung.* taken as the label/, /of Alter\. .* counts as public/, /1 training row is left out because it cannot be read.*row 52/, /80 of 400 rows, chosen by a fixed shuffle, are held out/]) {
    await eventually(async () => assert.match((await page.locator("#table .note").allInnerTexts()).join("\n"), said));
  }

  // What is known without looking is declared, and stays to be seen.
  await page.fill('#table [aria-label="Bounds of column Alter"]', "0 to 120");
  await page.fill('#table [aria-label="Bounds of column Kauf am"]', "2020-01-01 to 2024-12-31");
  await page.fill('#table [aria-label="Number for missing cells of column Alter"]', "40");
  await page.selectOption('#table [aria-label="Kind of column Ort"]', "bucketed");
  await page.locator("#table td", { hasText: "32 buckets" }).waitFor();
  await page.fill("#f-csv-buckets", "8");
  await page.locator("#table td", { hasText: "8 buckets" }).waitFor();
  await stands(page, '#table [aria-label="Bounds of column Kauf am"]', "2020-01-01 to 2024-12-31");
  await eventually(async () => assert.equal((await kinds(page))[4], "bucketed"));
  for (const setting of ["csv.bounds.Alter.lo=0", "csv.bounds.Alter.hi=120", "csv.bounds.Kauf am.lo=18262", "csv.bounds.Kauf am.hi=20088", "csv.fill.Alter=40", "csv.columns.Ort=bucketed", "csv.buckets=8"]) {
    await hasAddress(page, setting);
  }
  await page.screenshot({ path: path.join(results, "table-wide-light.png") });

  await start(page);
  await page.locator("#result").waitFor();
  await says(page, "#result .guarantee", /differential privacy for every training row/);
  await page.locator("#table").waitFor({ state: "detached" }); // the run stands there
  assert.deepEqual(page.errors, []);
});

test("what is declared of a column is refused next to it", async (t) => {
  const page = await visit(t);
  await page.setInputFiles("#files", csv("plain.csv", plain()));
  await line(page, "plain.csv");
  const bounds = page.locator('#table [aria-label="Bounds of column width"]');
  await bounds.fill("5 to");
  await page.locator("#table .fault", { hasText: "write for example 0 to 120" }).waitFor();
  await eventually(async () => assert.equal(await bounds.getAttribute("aria-invalid"), "true"));
  await page.click("#act-start");
  await page.locator("#run-fault", { hasText: "What is declared of column width needs attention" }).waitFor();
  await page.waitForFunction(() => document.activeElement?.getAttribute("aria-label") === "Bounds of column width");
  await bounds.fill("0 to 20");
  await page.locator("#table .fault:not([hidden])").waitFor({ state: "detached" });
  // A column that is no longer of numbers has no bounds, and keeps the field to take them away.
  await page.selectOption('#table [aria-label="Kind of column width"]', "ignored");
  await page.locator("#data-fault", { hasText: "csv.bounds of numeric columns alone" }).waitFor();
  await bounds.fill("");
  await line(page, "plain.csv");
  await bounds.waitFor({ state: "detached" });
  assert.deepEqual(page.errors, []);
});

test("each of several files is for training or for testing", async (t) => {
  const page = await visit(t);
  await page.setInputFiles("#files", [csv("one.csv", plain(120)), csv("two.csv", plain(40))]);
  await page.locator("#table .help", { hasText: "128 rows to train on, 32 to test on" }).waitFor();
  await stands(page, '[aria-label="What two.csv is for"]', "train");
  await page.selectOption('[aria-label="What two.csv is for"]', "test");
  await page.locator("#table .help", { hasText: "120 rows to train on, 40 to test on" }).waitFor();
  await stands(page, '[aria-label="What two.csv is for"]', "test");
  await page.waitForFunction(() => /csv\.roles\.two%2Ecsv=test/.test(location.hash));
  assert.deepEqual(page.errors, []);
});

test("the table gives way to the charts and comes back", async (t) => {
  const page = await visit(t);
  await page.setInputFiles("#files", csv("plain.csv", plain()));
  await page.locator("#table").waitFor();
  await page.locator(".charts").waitFor({ state: "detached" });
  await page.click("#hide-table");
  await page.locator("#panel-clipping").waitFor();
  await page.click("#show-table");
  await page.waitForFunction(() => document.activeElement?.id === "table");
  assert.deepEqual(page.errors, []);
});

test("what was set for the example follows from the table, and the bounds' noise is said before the run", async (t) => {
  const page = await visit(t);
  await line(page, "digits");
  const unmoved = page.locator("div[hidden] > .field > .field-control > #f-augmentation-kind"); // only pictures can be
  await unmoved.waitFor({ state: "detached" });
  const rows = Array.from({ length: 178 }, (_, i) => Array.from({ length: 13 }, (_, j) => ((j + 1) * (10 + (i * 7 + j * 3) % 11)).toFixed(1)).join(",") + "," + "abc"[i % 3]);
  await page.setInputFiles("#files", csv("small.csv", Array.from({ length: 13 }, (_, j) => "x" + j).join(",") + ",kind\n" + rows.join("\n") + "\n"));
  await line(page, "small.csv");
  await page.locator("#card-data .suited", { hasText: "now follow from your data and ε" }).waitFor();
  await page.locator("#card-clipping .card-line", { hasText: "Constant threshold" }).waitFor();
  await unmoved.waitFor({ state: "attached" });
  await page.waitForFunction(() => /data=files/.test(location.hash) && !/method|expected_batch_size|epochs|learning_rate/.test(decodeURIComponent(location.hash)));
  await page.click("#card-privacy .card-head");
  await stands(page, "#f-expected_batch_size", "36");
  await page.fill("#f-target_epsilon", "1");
  await page.click("#card-data .card-head");
  const warning = page.locator("#f-scaling-kind-warning", { hasText: "Private bounds cannot work" });
  await eventually(async () => assert.match(await warning.innerText(), /±\d+ rows.* there are 143\. Bounds of 13 columns/));
  await page.waitForFunction(() => /** @type {any} */ (document.getElementById("f-scaling-share")).value === "0.3");
  await warning.scrollIntoViewIfNeeded();
  await page.screenshot({ path: path.join(results, "table-bounds-wide-light.png") });
  await page.setViewportSize({ width: 390, height: 844 });
  await page.screenshot({ path: path.join(results, "table-bounds-phone-light.png") });
  // Where the card is out of sight, as it is on a phone, the way to it is not.
  const warned = page.locator("#run-warned", { hasText: "There is a warning to read before the run: see Data." });
  await warned.waitFor();
  await warning.waitFor({ state: "hidden" });
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.click("#card-optimiser .card-head");
  await page.waitForFunction(() => document.querySelectorAll("#card-optimiser .follows:not([hidden])").length === 2);
  // What is set by hand stays, and stands in the link.
  await page.fill("#f-learning_rate", "0.05");
  await page.locator("#f-learning_rate").blur();
  await page.waitForFunction(() => document.querySelectorAll("#card-optimiser .follows:not([hidden])").length === 0);
  await page.waitForFunction(() => /learning_rate=0\.05.*optimizer=adam/.test(location.hash));
  assert.deepEqual(page.errors, []);
});

test("numbers in thousands are learned by private bounds or declared ones, and answered as they are", async (t) => {
  const unit = random(7), rows = Array.from({ length: 1200 }, () => {
    const age = 18 + Math.floor(60 * unit()), hours = (60 * unit()).toFixed(1);
    return [String(age), hours, String(Math.round(15_000 + 400 * age + 500 * Number(hours) + 8000 * unit()))];
  });
  const text = (part) => "age,hours,income\n" + part.map((r) => r.join(",")).join("\n") + "\n";
  const page = await visit(t);
  const files = [csv("people.csv", text(rows.slice(0, 900))), csv("people.test.csv", text(rows.slice(900)))];
  // How a table is read stays when it is chosen again, with rows to test on beside it.
  await page.setInputFiles("#files", files[0]);
  await page.selectOption("#f-csv-label", "hours");
  await page.locator("#table thead th").first().waitFor();
  await page.waitForFunction(() => location.hash.includes("csv.label=hours"));
  await page.setInputFiles("#files", files);
  await page.locator("#table .help", { hasText: "900 rows to train on, 300 to test on" }).waitFor();
  await stands(page, "#f-csv-label", "hours");
  await page.selectOption("#f-csv-label", "income");
  await page.locator('#table [aria-label="Bounds of column income"]').waitFor();
  const figure = async (name) => (await page.locator("#result .result-figures div", { hasText: name }).innerText()).split("\n").at(-1);
  for (const bounds of ["", "0 to 100000"]) {
    await page.fill('#table [aria-label="Bounds of column income"]', bounds);
    if (bounds) {
      await page.fill('#table [aria-label="Bounds of column age"]', "0 to 120");
      await page.fill('#table [aria-label="Bounds of column hours"]', "0 to 60");
      await page.waitForFunction(() => location.hash.includes("csv.bounds.hours.hi=60"));
      await page.locator('#f-scaling-kind option:checked', { hasText: "bounds as known" }).waitFor({ state: "attached" });
    }
    await page.locator("#f-scaling-target").waitFor();
    await start(page);
    await page.locator("#result").waitFor();
    await eventually(async () => assert.equal(/Bounds of the columns were released/.test(await page.locator("#result .guarantee").innerText()), !bounds));
    await eventually(async () => assert.ok(Number(await figure("test R²")) > 0.6));
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("#save-model-json")]);
    const model = load(fs.readFileSync(await download.path(), "utf8"));
    const off = rows.slice(900).reduce((sum, r) => sum + Math.abs(Number(model.predict(r.slice(0, 2)).answer) - Number(r[2])), 0) / 300;
    await eventually(async () => {
      const said = Number((await figure("mean absolute error")).replaceAll(",", ""));
      assert.ok(Math.abs(said - off) <= 1 && off > 1500, `${said} and ${off}`);
    });
    await says(page, "#panel-learning .sentence", /Losses are of targets that were brought to −1 … 1/);
    // The table takes the place of the result, and gives it back.
    await page.click("#show-table");
    await page.locator("#result").waitFor({ state: "detached" });
    await page.click("#hide-table");
    await page.locator("#result").waitFor();
    await page.click("#act-reset");
    await page.locator("#result").waitFor({ state: "detached" });
    await page.click("#show-table");
  }
  assert.deepEqual(page.errors, []);
});

test("a model that was saved is applied to the cells of other rows, and does as the page says", async (t) => {
  const { truth, file } = kunden(900, (i) => i % 60 < 30 ? "ja" : "nein");
  const lines = file.buffer.toString("latin1").split("\r\n").filter((row) => !row.includes("abgebrochen"));
  const part = (name, rows) => ({ ...file, name, buffer: Buffer.from([...lines.slice(0, 2), ...rows].join("\r\n"), "latin1") });
  const page = await visit(t, "#target_epsilon=8&csv.missing=indicator&model.kind=mlp&model.hidden=8");
  await page.setInputFiles("#files", [part("Kunden.csv", lines.slice(2, 602)), part("Kunden.test.csv", lines.slice(602))]);
  await page.locator("#table .help", { hasText: "600 rows to train on, 300 to test on" }).waitFor();
  await start(page);
  await page.locator("#result").waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#save-model-json")]);
  const text = fs.readFileSync(await download.path(), "utf8"), model = JSON.parse(text), loaded = load(text);
  assert.equal(model.apply.scaling.kind, "private");
  assert.deepEqual(model.apply.classes, ["ja", "nein"]);
  // The other file has the same numbers, each layer's by name.
  const [other] = await Promise.all([page.waitForEvent("download"), page.click("#save-model-safetensors")]);
  const bytes = fs.readFileSync(await other.path()), length = Number(bytes.readBigUInt64LE()), header = JSON.parse(bytes.toString("utf8", 8, 8 + length));
  assert.equal(length % 8, 0);
  assert.deepEqual(JSON.parse(header.__metadata__.apply), model.apply);
  const { features } = model.apply;
  assert.deepEqual(Object.fromEntries(Object.entries(header).filter(([name]) => name !== "__metadata__").map(([name, t]) => [name, [t.dtype, ...t.shape]])), {
    "layers.0.weight": ["F32", features, 8], "layers.0.bias": ["F32", 8], "layers.2.weight": ["F32", 8, 2], "layers.2.bias": ["F32", 2],
  });
  const all = new Float32Array(bytes.buffer.slice(bytes.byteOffset + 8 + length, bytes.byteOffset + bytes.length));
  assert.deepEqual([...all], model.parameters.map(Math.fround));
  assert.equal(header["layers.2.bias"].data_offsets[1], 4 * all.length);
  assert.deepEqual(load(new Uint8Array(bytes)).predict(truth[0].cells), loaded.predict(truth[0].cells));
  // The program that answers a table, as it lies on the site.
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), "clipscope-predict-"));
  t.after(() => fs.rmSync(dir, { recursive: true }));
  fs.writeFileSync(path.join(dir, "model.json"), text);
  const head = model.apply.columns.map((c) => c.name).toReversed(); // columns are found by name
  fs.writeFileSync(path.join(dir, "rows.csv"), [head, ...truth.slice(600).map(({ cells }) => cells.toReversed())].map((row) => row.map((cell) => `"${cell}"`).join(";")).join("\n"));
  const said = execFileSync("node", [path.join(root, "dist/web/predict.mjs"), path.join(dir, "model.json"), path.join(dir, "rows.csv")], { encoding: "utf8" }).trim().split("\n");
  assert.equal(said[0], "answer,p(ja),p(nein)");
  assert.deepEqual(said.slice(1).map((line) => line.split(",")[0]), truth.slice(600).map(({ cells }) => loaded.predict(cells).answer));
  const held = truth.slice(600), right = held.filter(({ cells }) => loaded.predict(cells).answer === cells[6]).length;
  await eventually(async () => assert.equal(await page.locator("#result .value-diagnostic .figure").first().innerText(), percent(right / held.length)));
  // Accuracy stands beside what the largest class would have, and each class by itself.
  await says(page, "#result .result-figures", /largest class\s+50\.0 %/);
  await page.click("#scores summary");
  const answered = (is, as) => held.filter(({ cells }) => cells[6] === is && loaded.predict(cells).answer === as).length;
  const rows = (table) => page.locator("#scores table", { hasText: table }).locator("tbody tr").allInnerTexts();
  const names = ["ja", "nein"];
  await eventually(async () => assert.deepEqual(await rows("By class"), names.map((name) =>
    [name, 150, percent(answered(name, name) / 150), percent(answered(name, name) / (answered("ja", name) + answered("nein", name)))].join("\t"))));
  await eventually(async () => assert.deepEqual(await rows("What was answered"), names.map((is) => [is, ...names.map((as) => answered(is, as))].join("\t"))));
  assert.deepEqual(page.errors, []);
});

test("where two classes cost differently, the line between them is drawn elsewhere", async (t) => {
  const page = await visit(t, "#target_epsilon=8");
  const drawn = random(5), rows = Array.from({ length: 2000 }, () => {
    const x = drawn(), ill = drawn() < 0.05 + 0.5 * x ** 3;
    return `${x.toFixed(3)},${drawn().toFixed(3)},${ill ? "ill" : "well"}`;
  });
  await page.setInputFiles("#files", csv("patients.csv", "pressure,age,state\n" + rows.join("\n") + "\n"));
  await line(page, "patients.csv");
  await start(page);
  await page.locator("#result").waitFor();
  await page.click("#scores summary");
  const figures = async () => Object.fromEntries(await page.locator("#decision dl > *").evaluateAll((all) => all.map((f) => [f.querySelector("dt")?.textContent, f.querySelector("dd")?.textContent])));
  const counts = async () => {
    const [, found, ill, alarms, well] = (/** @type {any} */ (/(\d+) of (\d+) (\d+) of (\d+)/.exec([(await figures()).found, (await figures())["wrong alarms"]].join(" ").replaceAll(",", "")))).map(Number);
    return { found, ill, alarms, well };
  };
  await says(page, "#decision", /Answer “ill” from 50 % on/);
  const before = await counts();
  // Half way is what the model answers.
  const answered = async (/** @type {string} */ is, /** @type {number} */ as) => Number((await page.locator("#scores table", { hasText: "What was answered" }).locator("tr", { hasText: new RegExp(`^${is}`) }).locator("td").nth(as).innerText()).replaceAll(",", ""));
  assert.deepEqual(before, { found: await answered("ill", 0), ill: await answered("ill", 0) + await answered("ill", 1), alarms: await answered("well", 0), well: await answered("well", 0) + await answered("well", 1) });
  await page.selectOption("#decision-cost", "10");
  await page.click("#decision-best");
  await page.locator("#decision-best:disabled").waitFor();
  const after = await counts();
  assert.ok(after.found > before.found && after.alarms > before.alarms, JSON.stringify({ before, after }));
  const cost = Number((await figures())["cost a row, in wrong alarms"]);
  assert.ok(Math.abs(cost - (10 * (after.ill - after.found) + after.alarms) / (after.ill + after.well)) < 1e-3 * (1 + cost), `${cost} ${JSON.stringify(after)}`);
  // By keyboard, step by step.
  await page.focus("#decision-at");
  const line1 = await page.locator("label[for=decision-at]").innerText();
  await page.keyboard.press("ArrowRight");
  await eventually(async () => assert.notEqual(await page.locator("label[for=decision-at]").innerText(), line1));
  await page.locator("#decision-best:enabled").waitFor();
  await page.locator("#decision").scrollIntoViewIfNeeded();
  await page.screenshot({ path: path.join(results, "decision-wide-light.png") });
  await page.setViewportSize({ width: 390, height: 844 });
  await page.locator("#decision").scrollIntoViewIfNeeded();
  await page.screenshot({ path: path.join(results, "decision-narrow-light.png") });
  assert.deepEqual(page.errors, []);
});
