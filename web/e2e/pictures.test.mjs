// Pictures: one transform in training, on the page for use, and in predict.mjs.
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import zlib from "node:zlib";
import { load, table } from "../predict.mjs";
import { eventually, file, ready, stage } from "./browser.mjs";

const { visit } = await stage();

// png is a picture of red, green and blue.
/** @param {number} width @param {number} height @param {Uint8Array} pixels */
function png(width, height, pixels) {
  const chunk = (/** @type {string} */ type, /** @type {Uint8Array} */ data) => {
    const body = Buffer.concat([Buffer.from(type), data]), length = Buffer.alloc(4), sum = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(zlib.crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2], 8);
  const rows = Buffer.concat(Array.from({ length: height }, (_, y) => Buffer.concat([Buffer.from([0]), pixels.subarray(3 * y * width, 3 * (y + 1) * width)])));
  return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), chunk("IHDR", header), chunk("IDAT", zlib.deflateSync(rows)), chunk("IEND", Buffer.alloc(0))]);
}

// banner is a picture of 640×160 whose left part, and no more than that, tells its kind.
/** @param {number} seed @param {boolean} bright */
function banner(seed, bright) {
  let state = seed;
  const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  return Uint8Array.from({ length: 3 * 640 * 160 }, (_, i) => Math.floor(60 * random()) + (bright && i / 3 % 640 < 120 ? 190 : 0));
}

test("a wide picture is one row in training, in use and in predict.mjs; a folder is answered as Train reads it", async (t) => {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), "pictures-"));
  t.after(() => fs.rmSync(dir, { recursive: true }));
  const put = (name, content) => {
    fs.mkdirSync(path.dirname(path.join(dir, "set", name)), { recursive: true });
    fs.writeFileSync(path.join(dir, "set", name), content);
  };
  const pixels = banner(99, true), files = Array.from({ length: 24 }, (_, i) => ({ path: `set/${i % 2 ? "left" : "none"}/${i}.png`, ...file(`${i}.png`, png(640, 160, banner(i + 1, i % 2 === 1))) }));
  put("none/b.png", png(640, 160, banner(7, false)));
  put("left/a.png", png(640, 160, pixels));
  put("left/.ipynb_checkpoints/a-checkpoint.png", png(640, 160, pixels));
  put("left/no.png", "nothing");

  const page = await visit(t, "use");
  const out = await page.evaluate(async ([files, shown]) => {
    const open = ({ name, path, base64 }) => {
      const f = new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], name);
      Object.defineProperty(f, "webkitRelativePath", { value: path ?? "" });
      return f;
    };
    const config = { csv: { test_share: 0.25, image: { size: 16 } }, noise_multiplier: 0.01, steps: 30, expected_batch_size: 12, learning_rate: 0.5, model: { kind: "softmax" } };
    const result = await (await clipscope.train(config, { train: files.map(open), test: [] })).done, { released: { apply, parameters }, guarantee, epsilon, delta, accountant, steps } = result;
    const text = JSON.stringify({ config, guarantee, epsilon, delta, accountant, steps, apply, parameters: Array.from(parameters, (x) => +x.toPrecision(9)) });
    const m = await clipscope.load(text), { values, inverted } = await m.picture(open(shown)), [answer] = await m.predict([values]);
    return { text, values: [...values], inverted, answer, transform: m.info.transform };
  }, [files, file("a.png", png(640, 160, pixels))]);
  const model = load(out.text), row = model.picture({ data: pixels, width: 640, height: 160 }), said = model.predict(row);
  assert.deepEqual([out.transform, out.inverted, out.answer.answer], ["fit", false, "left"]);
  assert.deepEqual([...row], out.values);
  assert.deepEqual([...row.slice(0, 6 * 16)], Array(6 * 16).fill(0)); // the border
  for (const [k, p] of said.outputs.entries()) assert.ok(Math.abs(p - out.answer.outputs[k]) <= 1e-5, `${said.outputs}, and ${out.answer.outputs}`);

  await page.setInputFiles("#use-model", { name: "model.json", mimeType: "application/json", buffer: Buffer.from(out.text) });
  await page.locator("#part-picture", { hasText: "with a black border" }).waitFor();
  await page.setInputFiles("#use-picture", path.join(dir, "set/left/a.png"));
  await page.locator("#part-picture .said .figure", { hasText: "left" }).waitFor();
  await page.setInputFiles("#use-pictures-folder", path.join(dir, "set"));
  const download = page.waitForEvent("download");
  await page.locator("#save-answers").click();
  const saved = await download, lines = table(fs.readFileSync(await saved.path(), "utf8").replace(/^\ufeff/, ""));
  assert.equal(saved.suggestedFilename(), "set-answers.csv");
  assert.deepEqual(lines.map((l) => l.slice(0, 2)), [["picture", "answer"], ["set/left/a.png", "left"], ["set/left/no.png", ""], ["set/none/b.png", "none"]]);
  assert.match(lines[2].at(-1), /PNG or JPEG/);
  await eventually(async () => assert.match(await page.locator("#answers").textContent(), /1 files in hidden folders.*\.ipynb_checkpoints/));
  fs.rmSync(path.join(dir, "set/left/no.png"));
  await page.setInputFiles("#use-exam-folder", path.join(dir, "set"));
  await eventually(async () => assert.match(await page.locator("#part-exam").textContent(), /rows of set/));
  assert.deepEqual(page.errors, []);
});

test("the Data card offers the ways to bring pictures to one size", async (t) => {
  const page = await visit(t, "#csv.image.transform=crop");
  await ready(page);
  const zip = path.join(os.tmpdir(), `pictures-${process.pid}`);
  t.after(() => fs.rmSync(zip, { recursive: true, force: true }));
  for (const kind of ["left", "none"]) {
    fs.mkdirSync(path.join(zip, kind), { recursive: true });
    for (const k of [1, 2, 3, 4]) fs.writeFileSync(path.join(zip, kind, `${k}.png`), png(640, 160, banner(k, kind === "left")));
  }
  await page.setInputFiles("#folder", zip);
  const menu = page.locator("#f-csv-image-transform");
  await menu.waitFor();
  assert.equal(await menu.inputValue(), "crop");
  await eventually(async () => assert.match(await page.locator(".summary .notes").textContent(), /cut to the middle/));
  await menu.selectOption({ index: 0 });
  await eventually(async () => assert.match(await page.locator(".summary .notes").textContent(), /with a black border/));
  assert.deepEqual(page.errors, []);
});
