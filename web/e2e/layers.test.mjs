// Models as lists of layers, as someone who tries them meets them.
import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { eventually, narrow, results, stage } from "./browser.mjs";

const { visit } = await stage();
const shot = (page, name) => page.screenshot({ path: path.join(results, `${name}.png`), fullPage: true });

async function modelCard(t, hash, options) {
  const page = await visit(t, hash, options);
  const head = page.locator("#card-model .card-head");
  await page.locator("#act-start").waitFor();
  if (await page.locator(".setup").isVisible()) await page.click(".setup");
  if (await head.getAttribute("aria-expanded") === "false") await head.click();
  return page;
}

test("the model card shows what each layer gives, and names the one that does not fit", async (t) => {
  const page = await modelCard(t, "#data=digits&model.layers=conv:16:8:s2:p3,relu,maxpool:2:s1,flatten,dense:32,tanh,dense");
  const rows = page.locator(".layers tbody tr");
  await rows.first().waitFor();
  await eventually(async () => {
    assert.equal(await rows.count(), 7);
    assert.match((await rows.nth(0).innerText()).replace(/\s+/g, " "), /^1 conv:16:8:s2:p3 ?200,704 products, .*B 14×14×16 1,040$/);
    assert.match(await page.locator("#card-model .answer").innerText(), /^87,\d{3} parameters; about .* of memory, with \d+ rows at once\.$/);
    for (const cell of await rows.locator("th").all()) { // the layer, and under it what it costs
      const [layer, cost] = await cell.locator("span").evaluateAll((all) => all.map((e) => e.getBoundingClientRect()));
      assert.ok(cost.height === 0 || cost.top >= layer.bottom, await cell.innerText());
    }
    assert.ok(await page.locator(".columns.layers").evaluate((e) => e.scrollWidth <= e.clientWidth), "a column is cut off");
  });
  await shot(page, "layers-wide-light");
  const field = page.locator("#f-model-layers"), fault = page.locator("#f-model-layers-fault:not([hidden])");
  for (const [layers, said] of /** @type {[string, RegExp][]} */ ([
    ["conv:16:8:s2:p3, relu, conv:16:15, dense", /layer 3, conv:16:15: the kernel is 15×15, its input only 14×14/],
    ["conv:16:8 rellu dense", /layer 2: there is no layer "rellu"; choose add, attention, avgpool/],
    ["conv:16, dense", /layer 1: "conv:16" cannot be read; write conv:CHANNELS:SIZE/],
    ["dense:65536, dense:65536, dense", /layer 2, dense:65536: with its \d+ parameters there are more than a browser tab can hold/],
    ["conv:16:3, relu", /the last layer, relu, gives 26×26×16, but the data needs 10 outputs: end with dense/],
  ])) {
    await field.fill(layers);
    await eventually(async () => assert.match(await fault.innerText(), said));
  }
  await shot(page, "layers-fault-wide-light");
  assert.deepEqual(page.errors, []);
});

test("a table given to a convolution is refused by its layer", async (t) => {
  const page = await modelCard(t, "#data=blobs&model.layers=conv:16:3,dense", { viewport: narrow, colorScheme: "dark" });
  const fault = page.locator("#f-model-layers-fault:not([hidden])");
  await eventually(async () => assert.match(await fault.innerText(), /layer 1, conv:16:3: it works on pictures, but gets 2 numbers that stand in no picture/));
  await shot(page, "layers-fault-narrow-dark");
});

test("a convolutional network trains in the tab", async (t) => {
  const page = await modelCard(t, "#data=digits&model.kind=cnn-opacus", { viewport: narrow, colorScheme: "dark" });
  const result = await page.evaluate(async () => {
    const run = await window.clipscope.train({
      data: "digits", model: { kind: "cnn-opacus" }, noise_multiplier: 0.5, expected_batch_size: 128, steps: 40, learning_rate: 1, blind: true,
    });
    const r = await run.done;
    return { accuracy: r.test_accuracy, backend: r.backend, parameters: r.released.parameters.length };
  });
  assert.equal(result.backend, "simd");
  assert.equal(result.parameters, 26010);
  assert.ok(result.accuracy > 0.25, `accuracy ${result.accuracy}`);
  await page.locator(".layers tbody tr").first().waitFor();
  await shot(page, "layers-narrow-dark");
});
