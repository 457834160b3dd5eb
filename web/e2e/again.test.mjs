// What a run was made of comes back: from the run itself, and from what was saved of it.
import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";
import { eventually, narrow, stage, start } from "./browser.mjs";

const { visit } = await stage();

const made = "#data=moons&model.kind=softmax&method=psac&noise_multiplier=1&expected_batch_size=30&steps=20&learning_rate=0.3";
const has = (page, ...parts) => eventually(async () => { for (const part of parts) assert.ok(page.url().includes(part), `${part} is not in ${page.url()}`); });

test("a run's settings are taken from the run, and from its files", async (t) => {
  const page = await visit(t, made);
  await start(page);
  await page.locator("#result").waitFor();
  const files = [];
  for (const id of ["save-json", "save-model-json"]) {
    const download = page.waitForEvent("download");
    await page.locator(`#${id}`).click();
    files.push(fs.readFileSync(await (await download).path()));
  }
  await page.evaluate(() => { location.hash = "#data=moons&method=constant&model.kind=mlp"; });
  await page.locator("#take-settings").click();
  await has(page, "method=psac", "learning_rate=0.3", "expected_batch_size=30");
  await page.locator("#take-settings").waitFor({ state: "hidden" });

  // Neither file has rows, which the page says.
  for (const [buffer, buttons] of /** @type {[Buffer, string[]][]} */ ([[files[0], ["take-saved", "check-saved"]], [files[1], ["take-saved", "use-saved", "check-saved"]]])) {
    await page.evaluate(() => { location.hash = "#data=moons&method=constant&model.kind=mlp"; });
    await eventually(async () => assert.equal(await page.locator("#f-method").inputValue(), "constant"));
    await page.setInputFiles("#files", { name: "saved.json", mimeType: "application/json", buffer });
    await page.locator("#data-fault", { hasText: "saved.json has no rows: this page saved it" }).waitFor();
    assert.deepEqual(await page.locator("#take-saved:visible, #use-saved:visible, #check-saved:visible").evaluateAll((all) => all.map((e) => e.id)), buttons);
    await page.click("#take-saved");
    await has(page, "method=psac", "learning_rate=0.3");
    await page.locator("#card-data .card-line", { hasText: "moons" }).waitFor();
  }
  await page.setInputFiles("#files", { name: "saved.json", mimeType: "application/json", buffer: files[1] });
  await page.click("#use-saved");
  await page.locator("main", { hasText: "saved.json" }).waitFor();
  await eventually(async () => assert.match(page.url(), /use/));
  assert.deepEqual(page.errors, []);
});

test("a file's settings are taken as a link's are, and none that is too long for one", async (t) => {
  const page = await visit(t, "#data=moons");
  const chosen = async (/** @type {object} */ settings) => {
    const config = { data: "moons", learning_rate: 0.3, ...settings };
    const buffer = Buffer.from(JSON.stringify({ config, epsilon: 1, delta: 1e-5, series: {} }));
    await page.setInputFiles("#files", { name: "hostile.json", mimeType: "application/json", buffer });
    await page.locator("#check-saved:visible").waitFor();
  };
  const html = "<img src=x onerror=window.hurt=1>";
  await chosen({ data: html, method: html, backend: "nosuch", p1: 1 });
  await page.click("#take-saved");
  await page.locator("#link-lost", { hasText: "Not understood in this file, and left out: " }).waitFor();
  await has(page, "learning_rate=0.3");
  assert.ok(!page.url().includes("img") && !page.url().includes("nosuch") && !page.url().includes("p1"), page.url());
  // Such as the page would hang on are not handed to it.
  for (const settings of [{ note: "n".repeat(1 << 20) }, Object.fromEntries(Array.from({ length: 10000 }, (_, i) => [`p${i}`, 1]))]) {
    await chosen(settings);
    assert.ok(await page.locator("#take-saved").isHidden());
  }
  assert.equal(await page.evaluate(() => /** @type {any} */ (window).hurt), undefined);
  assert.deepEqual(page.errors, []);
});

test("while a refused file is looked at the page says so, until Esc or another choice", async (t) => {
  const page = await visit(t, "#data=moons");
  await page.evaluate(() => { // the question is never answered
    const post = Worker.prototype.postMessage;
    Worker.prototype.postMessage = function (m, ...rest) { if (m?.type !== "check") post.call(this, m, ...rest); };
  });
  const chosen = (/** @type {string} */ name) => page.setInputFiles("#files", { name, mimeType: "application/json", buffer: Buffer.from("{}") });
  const looking = page.locator("#data-looking"), fault = page.locator("#data-fault");
  await chosen("one.json");
  await looking.waitFor();
  assert.match(await fault.textContent(), /^one\.json, row 1: expected /);
  await page.keyboard.press("Escape");
  await looking.waitFor({ state: "hidden" });
  assert.match(await fault.textContent(), /^one\.json, row 1: expected /);
  await chosen("two.json");
  await looking.waitFor();
  await page.selectOption("#f-data", "digits");
  await looking.waitFor({ state: "hidden" });
  await fault.waitFor({ state: "hidden" });
  assert.deepEqual(page.errors, []);
});

test("what is wrong with a file that is dropped on a narrow page is seen", async (t) => {
  const page = await visit(t, "#data=moons", { viewport: narrow });
  await page.evaluate(() => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File(["{}"], "one.json"));
    for (const type of ["dragenter", "dragover", "drop"]) document.querySelector("main")?.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer }));
  });
  await page.locator("#data-fault", { hasText: "one.json, row 1: expected" }).waitFor();
  await page.keyboard.press("Escape");
  await page.locator("#data-fault").waitFor({ state: "hidden" });
  assert.deepEqual(page.errors, []);
});
