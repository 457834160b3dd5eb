// Runs that start from the weights of a saved model: what they begin with, what is said of it, and what is refused.
import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";
import { STILL, eventually, stage, start, wide } from "./browser.mjs";

const { visit } = await stage();

// quickly is a public model of the digits, and one step of a private run that hardly moves.
const quickly = { data: "digits", model: { kind: "softmax" }, method: "none", steps: 60, expected_batch_size: 200, learning_rate: 0.5 };
const onward = { data: "digits", model: { kind: "softmax" }, target_epsilon: 1, accountant: "rdp", steps: 1, expected_batch_size: 200, learning_rate: 1e-6 };

test("a run starts from a model with the model's accuracy, and names it", async (t) => {
  const page = await visit(t, STILL);
  const r = await page.evaluate(async ([quickly, onward]) => {
    const rejects = async (f) => f().then(() => "it was taken", (e) => e.message);
    const made = await (await clipscope.train(quickly)).done;
    const forms = {};
    for (const form of ["zip", "json", "safetensors"]) forms[form] = new File([await clipscope.convert(made, form)], "digits." + form);
    const found = {}, run = async (config, options) => (await clipscope.train(config, undefined, options)).done;
    const declared = { ...onward, start: { public: true } };
    for (const [form, file] of Object.entries(forms)) {
      const { test_accuracy, statement } = await run(declared, { start: file });
      found[form] = { test_accuracy, start: statement.start, text: statement.text };
    }
    const info = await clipscope.start(forms.zip), named = { ...onward, start: { file: info.file, sha256: info.sha256, public: true } };
    const plan = await clipscope.plan(named), again = await run(named);
    const lab = await clipscope.lab({ ...named, seed: 1 });
    lab.close();
    const bytes = new Uint8Array(await forms.safetensors.arrayBuffer()), cut = new File([bytes.slice(0, -8)], "cut.safetensors");
    const odd = bytes.slice();
    odd.set(new Uint8Array(new Float32Array([NaN]).buffer), odd.length - 4);
    // How many runs a tuning has is drawn: with a mean of 30 there is none once in 10¹³ times.
    const tuned = await run({ ...declared, steps: 1, tuning: { runs: 30, learning_rate: [1e-6, 2e-6] } }, { start: forms.zip });
    return {
      found, info, plan: plan.guarantee, again: again.test_accuracy, made: made.test_accuracy, tuned: tuned.test_accuracy,
      random: (await run(onward)).test_accuracy,
      refused: {
        undeclared: await rejects(() => run(onward, { start: forms.json })),
        shape: await rejects(() => run({ ...declared, model: { kind: "mlp", hidden: [16] } }, { start: forms.json })),
        cut: await rejects(() => run(declared, { start: cut })),
        odd: await rejects(() => run(declared, { start: new File([odd], "odd.safetensors") })),
        text: await rejects(() => run(declared, { start: new File(["a,b\n1,2\n"], "rows.csv") })),
        gone: await rejects(() => run({ ...onward, start: { file: "lost.zip", sha256: "ab".repeat(32), public: true } })),
      },
    };
  }, [quickly, onward]);
  assert.ok(r.made > 0.8 && r.random < 0.5, `${r.made}, and ${r.random} from random weights`);
  for (const [form, { test_accuracy, start, text }] of Object.entries(r.found)) {
    assert.ok(Math.abs(test_accuracy - r.made) < 0.01, `${form}: ${test_accuracy}, and the model has ${r.made}`);
    assert.equal(start.file, "digits." + form);
    assert.match(text, new RegExp(`Training started from the weights in digits\\.${form} \\(SHA-256 ${start.sha256}\\), which are treated as public`));
  }
  assert.deepEqual([r.info.parameters, r.info.private, r.info.sha256], [7850, undefined, r.found.zip.start.sha256]);
  assert.match(r.plan, /Training started from the weights in digits\.zip/);
  assert.equal(r.again, r.found.zip.test_accuracy);
  assert.ok(Math.abs(r.tuned - r.made) < 0.01, `${r.tuned} of a tuning`);
  assert.match(r.refused.undeclared, /^start\.public: the weights of digits\.json count as public/);
  assert.match(r.refused.shape, /^start: digits\.json does not fit this network: the tensor layers\.0\.weight has the shape \[784 10\], and layer 1 \(dense:16\) takes \[784 16\]/);
  assert.match(r.refused.cut, /cut\.safetensors/);
  assert.match(r.refused.odd, /odd\.safetensors: .*tensor layers\.0\.(bias|weight): number \d+ of \d+ is NaN/);
  assert.match(r.refused.text, /rows\.csv/);
  assert.match(r.refused.gone, /^start: the run starts from the weights in lost\.zip \(SHA-256 abababababab…\), and they are not open here/);
  assert.deepEqual(page.errors, []);
});

test("a model that is dropped starts the next run, and a link asks for its file", async (t) => {
  const page = await visit(t, "#data=digits&model.kind=softmax&no_privacy=true&noise_multiplier=0&steps=60&expected_batch_size=200&learning_rate=0.5", { viewport: wide });
  await start(page);
  await page.locator("#result").waitFor();
  await page.locator("#take-model:visible").click();
  await page.locator("#start-used", { hasText: /run-[0-9-]+\.safetensors \(SHA-256 [0-9a-f]{12}…\), 7,850 parameters/ }).waitFor();
  await page.locator("#start-drop").click();
  await page.locator("#start-used").waitFor({ state: "hidden" });
  const download = page.waitForEvent("download");
  await page.locator("#save-model-json").click();
  const buffer = fs.readFileSync(await (await download).path());
  const model = { name: "mine.json", mimeType: "application/json", buffer };
  await page.evaluate(() => { location.hash = "#data=digits&model.kind=mlp&target_epsilon=1&accountant=rdp&steps=1&expected_batch_size=200&learning_rate=0.000001"; });
  await eventually(async () => assert.equal(await page.locator("#f-model-kind").inputValue(), "mlp"));
  await page.setInputFiles("#files", model);
  await page.locator("#start-saved:visible").click();
  await page.locator("#start-used", { hasText: /mine\.json \(SHA-256 [0-9a-f]{12}…\), 7,850 parameters/ }).waitFor();
  assert.equal(await page.locator("#f-model-kind").inputValue(), "softmax");
  await page.locator("#f-start-public-fault", { hasText: "count as public" }).waitFor();
  await page.locator("#f-start-public").check();
  await eventually(async () => assert.match(page.url(), /start\.file=mine\.json&start\.public=true&start\.sha256=[0-9a-f]{64}/));
  await page.locator("#f-start-public-fault").waitFor({ state: "hidden" });
  await start(page);
  await page.locator("#result", { hasText: "Training started from the weights in mine.json" }).waitFor();

  const address = page.url();
  await page.goto("about:blank");
  await page.goto(address);
  await page.locator("#card-model .card-head").click();
  await page.locator("#f-start-sha256-fault", { hasText: /^the run starts from the weights in mine\.json/ }).waitFor();
  await page.setInputFiles("#start-file", { ...model, name: "renamed.json" });
  await page.locator("#f-start-sha256-fault").waitFor({ state: "hidden" });
  assert.equal(page.url(), address);
  await page.setInputFiles("#start-file", { name: "broken.safetensors", mimeType: "application/octet-stream", buffer: Buffer.from([9, 0, 0, 0, 0, 0, 0, 0, 0x7b, 1, 2]) });
  await page.locator("#f-start-sha256-fault", { hasText: "broken.safetensors" }).waitFor();
  await page.click("#start-drop");
  await eventually(async () => assert.ok(!page.url().includes("start.")));
  assert.deepEqual(page.errors, []);
});
