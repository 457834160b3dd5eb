// A file that the page saved is checked: in the scripting API, and on its page.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { eventually, narrow, results, root, stage, wide } from "./browser.mjs";

const { visit } = await stage();

const old = (name) => fs.readFileSync(path.join(root, "testdata", name));

test("a script checks what a run left, and what was edited of it", async (t) => {
  const page = await visit(t, "check");
  const seen = await page.evaluate(async () => {
    const run = await window.clipscope.train({ data: "moons", model: { kind: "softmax" }, noise_multiplier: 1, expected_batch_size: 50, steps: 60 });
    const result = await run.done, zip = await window.clipscope.convert(result, "zip"), json = JSON.stringify(result.statement);
    const all = [zip, await window.clipscope.convert(result, "json"), result, json, json.replace(/"epsilon":[\d.]+/, '"epsilon":0.01'), result.statement.text];
    const verdicts = [];
    for (const f of all) verdicts.push(await window.clipscope.check(f));
    const off = new AbortController();
    const stopped = window.clipscope.check(json, off.signal).catch((e) => e.name);
    off.abort();
    const refused = await window.clipscope.check("{}").catch((e) => e.message);
    return { checks: result.checks, verdicts, stopped: await stopped, refused, epsilon: result.epsilon };
  });
  assert.equal(seen.checks.length, 5);
  assert.deepEqual(seen.checks.filter((c) => !c.ok), []);
  assert.ok(Number.isFinite(seen.epsilon));
  assert.deepEqual(seen.verdicts.map((v) => v.verdict), ["agrees", "agrees", "agrees", "agrees", "differs", "agrees"], JSON.stringify(seen.verdicts.map((v) => [v.kind, v.findings.filter((f) => f.verdict !== "agrees")])));
  assert.ok(seen.verdicts[4].findings.some((f) => f.claim === "ε" && f.verdict === "differs"));
  assert.equal(seen.stopped, "AbortError");
  assert.match(seen.refused, /not a file that Clipscope writes\. Choose/);
});

test("the page says what agrees, what differs and what cannot be checked", async (t) => {
  const page = await visit(t, "use", { viewport: wide });
  await page.locator("#to-check").click();
  const choose = (name, buffer) => page.locator("#check-file").setInputFiles({ name, mimeType: "application/octet-stream", buffer });
  const says = (heading, ...texts) => eventually(async () => {
    assert.equal(await page.locator("#verdict h2").textContent(), heading);
    const all = await page.locator("#verdict").textContent();
    for (const s of texts) assert.ok(all.includes(s), `${s} is not in ${all}`);
  });
  await choose("run.json", old("0.1.0/clipscope-run.json"));
  await says("The figures agree", "no list of its events", "none differs");
  await choose("model.zip", old("0.2.0/plain-model.zip"));
  await says("The figures agree", "model.json and model.safetensors");
  await choose("statement.json", Buffer.from(old("0.2.0/plain-statement.json").toString().replace(/"epsilon": [\d.]+/, '"epsilon": 0.1')));
  await says("The figures differ", "Do not rely on this file", "0.315766");
  await page.screenshot({ path: path.join(results, "check.png") });
  await choose("picture.png", Buffer.from("\x89PNG\r\n\x1a\n", "latin1"));
  await eventually(async () => {
    assert.match(await page.locator("#check-fault").textContent(), /picture\.png: this is not a file that Clipscope writes\. Choose the file as the page saved it/);
    assert.equal(await page.locator("#verdict").count(), 0, "the last verdict stands beside another file");
  });
  await choose("statement.json", Buffer.from(old("0.2.0/bounds-statement.txt")));
  await says("ε cannot be checked", "what was released before the steps");
  await page.setViewportSize(narrow);
  await eventually(async () => assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "the page is wider than a phone"));
  await page.screenshot({ path: path.join(results, "check-narrow.png") });
  await page.emulateMedia({ colorScheme: "dark" });
  await choose("statement.json", Buffer.from(old("0.2.0/plain-statement.json").toString().replace(/"epsilon": [\d.]+/, '"epsilon": 0.1')));
  await says("The figures differ");
  await page.screenshot({ path: path.join(results, "check-dark.png"), fullPage: true });
  assert.deepEqual(page.errors, []);
});
