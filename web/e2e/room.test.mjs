// For a room: what charts show as files, released values alone unless more is asked for;
// the address as a QR code; big type. Screenshots and pictures go to results/.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { csv, named, refused, Sketch } from "../save.mjs";
import { eventually, results, stage, start } from "./browser.mjs";

const { visit } = await stage();

test("a CSV has numbers as they are and runs nothing", () => {
  const rows = [["=1+1", -1.5, null], ["+x", 1e-300, 0], ["@a,b", 0.1 + 0.2, 3], ["-2", 1e21, 1], ['say "a"\nb', 1, 1], ["\t=1", 1, 1], ["\n=1", 1, 1]];
  assert.equal(csv({ columns: ["-name", "x", "ε"], rows }),
    "'-name,x,ε\n'=1+1,-1.5,\n'+x,1e-300,0\n\"'@a,b\",0.30000000000000004,3\n'-2,1e+21,1\n\"say \"\"a\"\"\nb\",1,1\n'\t=1,1,1\n\"'\n=1\",1,1\n");
});

test("a file's name says what it is", () => {
  assert.equal(named("Privacy cost", true, "csv"), "clipscope-privacy-cost.csv");
  assert.equal(named("512 gradients at step 1,000", false, "svg"), "clipscope-512-gradients-at-step-1-000-not-private.svg");
  assert.equal(named("../..", true, "png"), "clipscope-chart.png");
});

test("without the tick nothing diagnostic is written", () => {
  /** @type {(released: boolean, open: number, all: number) => any} */
  const chart = (released, open, all) => ({ released, table: (/** @type {boolean} */ more) => ({ columns: [], rows: new Array(more ? all : open).fill([1]) }) });
  for (const [what, of, refusals] of /** @type {[string, any, (RegExp | string)[]][]} */ ([
    ["released", chart(true, 2, 2), ["", "", "", ""]],
    ["mixed", chart(false, 1, 2), [/The picture .*Tick/, "", "", ""]],
    ["diagnostic", chart(false, 0, 2), [/All of this chart.*Tick/, /All of this chart.*Tick/, "", ""]],
    ["empty", chart(false, 0, 0), [/nothing/, /nothing/, /nothing/, /nothing/]],
  ])) {
    [["png", false], ["csv", false], ["svg", true], ["json", true]].forEach(([kind, ticked], i) =>
      assert.match(refused(of, String(kind), Boolean(ticked)), refusals[i] === "" ? /^$/ : /** @type {RegExp} */ (refusals[i]), `${what} as ${kind}`));
  }
});

test("an SVG closes what it opens, and keeps texts as texts", () => {
  const g = new Sketch();
  g.save();
  g.scale(2, 2);
  g.save();
  g.beginPath();
  g.rect(1, 2, 3, 4);
  g.clip();
  g.beginPath();
  g.arc(5, 5, 1, 0, 2 * Math.PI);
  g.fill();
  g.restore();
  g.restore();
  g.fillText('<&">\u0000', 0.125, 1);
  assert.equal(g.svg("a<b", 10, 10.5), `<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10.5" viewBox="0 0 10 10.5" role="img">
<title>a&#60;b</title>
<g transform="scale(2 2)">
<svg x="1" y="2" width="3" height="4" viewBox="1 2 3 4" overflow="hidden">
<path d="M6 5A1 1 0 0 1 4 5A1 1 0 0 1 6 5" fill="#000"/>
</svg>
</g>
<text x="0.13" y="1" font-family="sans-serif" font-size="10" font-weight="400" text-anchor="start" fill="#000">&#60;&#38;&#34;&#62; </text>
</svg>
`);
  g.beginPath();
  g.moveTo(0, 0);
  assert.throws(() => g.clip(), /not one rectangle/);
});

test("charts are saved, the address is a QR code, and big type stays from page to page", async (t) => {
  const page = await visit(t, "#data=digits&model.kind=softmax&method=dc-e&noise_multiplier=1&expected_batch_size=256&steps=20&learning_rate=0.5&seed=1", { viewport: { width: 1280, height: 720 } });
  const dialog = page.locator("dialog.sheet"), close = () => dialog.getByRole("button", { name: "Close" }).click();
  const press = (/** @type {string} */ kind) => dialog.getByRole("button", { name: kind, exact: true }).click();
  const said = (/** @type {RegExp} */ text) => dialog.locator('[role="status"]', { hasText: text }).waitFor();
  // taken is a file's name and bytes.
  const taken = async (/** @type {string} */ kind) => {
    const [download] = await Promise.all([page.waitForEvent("download"), press(kind)]);
    const file = path.join(results, download.suggestedFilename());
    await download.saveAs(file);
    return { name: download.suggestedFilename(), bytes: fs.readFileSync(file), text: fs.readFileSync(file, "utf8") };
  };
  const head = (/** @type {string} */ text) => text.slice(0, text.indexOf("\n"));
  const says = (/** @type {RegExp} */ text) => eventually(async () => assert.match(await dialog.innerText(), text));
  const searched = (/** @type {string} */ search) => eventually(() => assert.equal(new URL(page.url()).search, search));

  assert.equal(await page.innerText(".panel-epsilon .save"), "Save…");
  await page.click(".panel-epsilon .save");
  await says(/A click writes a file: SVG and PNG are the picture/);
  await press("CSV");
  await said(/nothing in this chart/); // before a run
  await close();
  await start(page);
  await page.locator(".result").waitFor();

  await page.click(".panel-epsilon .save");
  await says(/The run carries no guarantee/); // its seed is fixed
  assert.equal(await dialog.getByRole("checkbox").isVisible(), false);
  const cost = await eventually(async () => { // the last step may be on its way to the chart
    const cost = await taken("CSV");
    assert.equal(cost.text.split("\n").length, 22);
    return cost;
  });
  assert.equal(cost.name, "clipscope-privacy-cost.csv");
  assert.equal(head(cost.text), "step,ε");
  await close();

  // Some of its values are released.
  await page.click(".panel-norms .save");
  await press("SVG");
  await said(/picture shows diagnostic values/);
  const noisy = await taken("CSV");
  assert.equal(noisy.name, "clipscope-gradient-norms.csv");
  assert.equal(head(noisy.text), "from,to,noisy histogram");
  await dialog.getByRole("checkbox").check();
  const all = await taken("CSV");
  assert.equal(all.name, "clipscope-gradient-norms-not-private.csv");
  assert.equal(head(all.text), "from,to,noisy histogram,diagnostic: this batch");
  assert.ok(all.text.length > noisy.text.length);
  const picture = await taken("SVG");
  assert.match(picture.text, /<title>Gradient norms<\/title>/);
  assert.match(picture.text, />diagnostic: from the private data without noise</);
  const png = await taken("PNG");
  assert.deepEqual([...png.bytes.subarray(0, 8)], [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  assert.equal(png.bytes.readUInt32BE(16), 2 * Number(/ width="(\d+)"/.exec(picture.text)?.[1]));
  await close();

  // None are; a tick is for one time.
  await page.click(".panel-learning .save >> nth=0");
  await eventually(async () => assert.equal(await dialog.getByRole("checkbox").isChecked(), false));
  await press("JSON");
  await said(/All of this chart is diagnostic/);
  await dialog.getByRole("checkbox").check();
  const accuracy = JSON.parse((await taken("JSON")).text);
  assert.deepEqual(accuracy.columns, ["step", "diagnostic: batch", "diagnostic: test"]);
  assert.match(accuracy.warning, /without noise/);
  assert.equal(accuracy.rows.length, 20);
  await taken("SVG");
  await close();

  // Without noise nothing counts as released.
  const bare = await visit(t, "#data=moons&model.kind=softmax&method=dc-e&no_privacy=true&expected_batch_size=64&steps=5");
  await start(bare);
  await bare.locator(".result").waitFor();
  for (const panel of [".panel-norms", ".panel-curves", ".panel-clipping .figure-box:nth-child(2)"]) {
    await bare.click(panel + " .save");
    const sheet = bare.locator("dialog.sheet");
    await sheet.getByRole("button", { name: "CSV", exact: true }).click();
    await sheet.locator('[role="status"]', { hasText: /All of this chart is diagnostic/ }).waitFor();
    await sheet.getByRole("button", { name: "Close" }).click();
  }

  await page.keyboard.press("Alt+p");
  await searched("?present");
  await eventually(async () => {
    const shown = await page.locator(".charts > .panel").evaluateAll((panels) => panels.filter((p) => p.getBoundingClientRect().height > 0).length);
    assert.equal(shown % 2, 0, `${shown} charts leave a place empty`);
  });
  await page.locator("header").getByRole("link", { name: "Lab", exact: true }).click();
  await page.locator("#lab-sentence", { hasText: /^At C = / }).waitFor();
  await searched("?present");
  await eventually(async () => assert.equal(await page.evaluate(() => document.documentElement.dataset.present), ""));
  await page.locator("#lab-lengths").waitFor({ state: "hidden" });
  await page.evaluate(() => { location.hash = "#lesson=clipping.2"; }); // which sends one to the share that is clipped
  await page.locator("#lab-lengths", { hasText: "longer than C" }).waitFor();
  await eventually(async () => assert.equal(await page.locator("button.qr:visible").count(), 1));
  await page.getByRole("button", { name: "Leave", exact: true }).click();
  await page.locator(".lab-setup .qr").click();
  await eventually(async () => {
    const link = await dialog.locator(".qr-link").textContent();
    assert.ok(link.includes("/lab") && !link.includes("present"), link);
  });
  await eventually(async () => assert.ok(await dialog.locator("canvas.qr-code").evaluate((c) => c.width > 100 && c.width === c.height)));
  await close();
  await page.keyboard.press("Alt+p");
  await searched("");

  for (const [board, columns] of /** @type {[string, RegExp][]} */ ([["#lab-plane", /^gradient of,diagnostic: along the mean,/], ["#lab-u", /^C,diagnostic: .*noise σ²C²d\/B²/]])) {
    await page.locator(".lab-pane", { has: page.locator(board) }).locator(".save").click();
    await press("CSV");
    await said(/All of this chart is diagnostic/);
    await dialog.getByRole("checkbox").check();
    assert.match((await taken("CSV")).text, columns);
    assert.match((await taken("SVG")).text, /<path d="M/);
    await close();
  }
  assert.deepEqual(page.errors, []);
});
