// A table of mails trains as it is: its texts are told from labels, hashed, and learned privately; the saved model answers
// new ones.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { load } from "../predict.mjs";
import { eventually, narrow, results, stage, start } from "./browser.mjs";

const { visit } = await stage();

// mails draws mails of two kinds, which no word tells but twenty phrases, ten of each kind: every mail has one to three.
function mails(n, seed) {
  let state = seed;
  const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32, below = (k) => Math.floor(k * random());
  const syllable = () => "bcdfghklmnprstvwz"[below(17)] + "aeiou"[below(5)] + ["", "n", "r", "s", "t"][below(5)];
  const words = Array.from({ length: 2000 }, () => Array.from({ length: 1 + below(3) }, syllable).join("")), word = () => words[Math.floor(2000 ** random()) - 1];
  const phrases = ["ham", "spam"].map(() => Array.from({ length: 10 }, () => Array.from({ length: 2 + below(2) }, () => words[below(2000)]).join(" ")));
  return Array.from({ length: n }, () => {
    const k = below(2), text = Array.from({ length: 20 + below(60) }, word);
    for (let i = 1 + below(3); i > 0; i--) text.splice(below(text.length), 0, phrases[k][below(10)]);
    return { text: `${text.join(" ")}.`, kind: ["ham", "spam"][k] };
  });
}

test("a dropped table of 2,000 mails trains to an area of 0.95 at ε = 4, and the model answers mails", async (t) => {
  const page = await visit(t, "#target_epsilon=4"), all = mails(2000, 7);
  await page.setInputFiles("#files", { name: "mails.csv", mimeType: "text/csv", buffer: Buffer.from(`kind,mail\n${all.map((m) => `${m.kind},"${m.text}"`).join("\n")}\n`) });
  await page.locator("#data-doubts .warning", { hasText: "mail is read as text" }).waitFor();
  await page.locator("#table .as", { hasText: "texts, hashed into 16,384" }).waitFor();
  await page.screenshot({ path: path.join(results, "texts-wide-light.png") });
  await start(page);
  await page.locator("#result").waitFor();
  await eventually(async () => {
    const said = await page.locator("#result").textContent(), area = said?.match(/area under ROC of (?:ham|spam)\s*([01](?:\.\d+)?)/)?.[1];
    assert.ok(Number(area) >= 0.95, `an area of ${area}`);
    t.diagnostic(`area ${area}`);
  });
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#save-model-json")]);
  const text = fs.readFileSync(await download.path(), "utf8"), model = load(text);
  // On the page Use a mail is typed, and answered as by predict.mjs.
  const use = await visit(t, "use");
  await use.setInputFiles("#use-model", { name: "model.json", mimeType: "application/json", buffer: Buffer.from(text) });
  const mail = use.locator("#part-row textarea");
  await mail.fill(all[0].text);
  const { answer, outputs } = model.predict({ mail: all[0].text });
  await eventually(async () => {
    const said = await use.locator("#part-row .said").innerText(), shares = [...said.matchAll(/([\d.]+)\s*%/g)].map((m) => Number(m[1]));
    assert.ok(said.includes(answer) && Math.abs(Math.max(...shares) - 100 * Math.max(...outputs)) < 0.06, `${said}, not ${answer} and ${outputs}`);
  });
  await use.setViewportSize(narrow);
  await use.screenshot({ path: path.join(results, "texts-use-phone-light.png") });
  assert.deepEqual([...page.errors, ...use.errors], []);
});

// reviews turn on the order of two words: a good word with a no in front of it is bad, and a no behind it means nothing.
function reviews(n, seed) {
  let state = seed;
  const below = (k) => Math.floor(k * ((state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32));
  return Array.from({ length: n }, () => {
    const good = below(2), turned = below(2), text = Array.from({ length: 2 + below(6) }, () => "w" + below(30)), word = ["bad", "good"][good];
    text.splice(below(text.length + 1), 0, ...turned ? ["no", word] : [word, "no"]);
    return { text: text.join(" "), kind: ["bad", "good"][good ^ turned] };
  });
}

test("words are learned in their order, which the column’s menu offers, and the model answers by it", async (t) => {
  const page = await visit(t, "#target_epsilon=8"), all = reviews(3000, 5);
  await page.setInputFiles("#files", { name: "reviews.csv", mimeType: "text/csv", buffer: Buffer.from(`n,review,kind\n${all.map((m, i) => `${i % 7},${m.text},${m.kind}`).join("\n")}\n`) });
  await page.locator("#table .as", { hasText: "texts, hashed into 16,384" }).waitFor();
  await page.selectOption('#table [aria-label="Kind of column review"]', "words");
  await page.locator("#table .as", { hasText: "the first 64 words" }).waitFor();
  await eventually(async () => assert.match(await page.locator("#table").textContent(), /n is ignored, as letters or words in their order are learned from alone/));
  await eventually(async () => assert.match(await page.locator("#card-model").innerText(), /5 layers, 66,658 parameters/));
  await page.screenshot({ path: path.join(results, "words-wide-light.png"), fullPage: true });
  await start(page);
  await page.locator("#result").waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#save-model-json")]);
  const model = load(fs.readFileSync(await download.path(), "utf8"));
  for (const [text, kind] of [["w1 w2 no good w3", "bad"], ["w1 w2 good no w3", "good"], ["no bad", "good"], ["bad no w9 w8", "bad"]]) assert.equal(model.predict({ review: text }).answer, kind, text);
  const use = await visit(t, "use");
  await use.setInputFiles("#use-model", await download.path());
  await use.locator("#part-row textarea").fill("w5 no bad w7");
  await eventually(async () => assert.match(await use.locator("#part-row .said").innerText(), /good/));
  assert.deepEqual([...page.errors, ...use.errors], []);
});

for (const { kind, lines, own, other, rate } of [
  { kind: "transformer", lines: /^25 layers, 70,242 parameters/, own: "attention:2", other: "attention:4", rate: /Adam, η\s0\.01/ },
  { kind: "lstm", lines: /^4 layers, 72,002 parameters/, own: "lstm:32", other: "lstm:24", rate: /Adam, η\s0\.03/ },
]) test(`a network ${kind} is chosen by its name, shows its layers, trains, and answers as predict.mjs does`, async (t) => {
  const page = await visit(t, "#target_epsilon=8&steps=20&csv.max_length=12"), all = reviews(1200, 5);
  await page.setInputFiles("#files", { name: "reviews.csv", mimeType: "text/csv", buffer: Buffer.from(`review,kind\n${all.map((m) => `${m.text},${m.kind}`).join("\n")}\n`) });
  await page.selectOption('#table [aria-label="Kind of column review"]', "words");
  await eventually(async () => assert.match(await page.innerText("#card-model .card-line"), /^5 layers/));
  const head = page.locator("#card-model .card-head");
  if (await head.getAttribute("aria-expanded") === "false") await head.click();
  await page.selectOption("#f-model-kind", kind);
  await eventually(async () => assert.match(await page.innerText("#card-model .card-line"), lines));
  await page.locator(".layers th", { hasText: own }).first().waitFor();
  await page.fill("#f-model-layers", (await page.inputValue("#f-model-layers")).replace(own, other));
  await page.locator(".layers th", { hasText: other }).first().waitFor();
  await eventually(async () => assert.match(await page.innerText("#card-optimiser .card-line"), rate));
  await page.screenshot({ path: path.join(results, `${kind}-wide-light.png`), fullPage: true });
  await start(page);
  await page.locator("#result").waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#save-model-json")]);
  const { answer, outputs } = load(fs.readFileSync(await download.path(), "utf8")).predict({ review: "w5 no bad w7" });
  const use = await visit(t, "use");
  await use.setInputFiles("#use-model", await download.path());
  await use.locator("#part-row textarea").fill("w5 no bad w7");
  await eventually(async () => {
    const said = (await use.locator("#part-row .said").innerText()).split(/\s+/);
    assert.ok(said[1] === answer && [3, 6].every((at, k) => Math.abs(Number(said[at]) - 100 * outputs[k]) < 0.06), `${said}: ${answer}, ${outputs}`);
  });
  assert.deepEqual([...page.errors, ...use.errors], []);
});
