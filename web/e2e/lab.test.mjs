// The laboratory as a hand moves it: C by mouse, by touch and by keys, on the plane and
// under the U; the model trained on; a link to the state. Screenshots go to results/.
import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { eventually, narrow, results, stage } from "./browser.mjs";

const { visit } = await stage();

const screen = { width: 1280, height: 720 };
const sentence = (page) => page.locator("#lab-sentence").textContent();
const looked = (page) => page.waitForFunction(() => document.getElementById("lab-sentence")?.textContent && document.getElementById("lab-busy")?.textContent === "");
const stands = (page, board) => page.locator(board).getAttribute("aria-valuenow").then(Number);
// said waits until the sentence is about the C at which both handles stand.
const said = (page) => page.waitForFunction(() => {
  const [plane, u] = ["lab-plane", "lab-u"].map((id) => document.getElementById(id)?.getAttribute("aria-valuetext"));
  return plane && plane === u && document.getElementById("lab-sentence")?.textContent?.startsWith(`At ${plane} `);
});

test("C is moved by mouse and by keys, and all that depends on it follows", async (t) => {
  const page = await visit(t, "lab", { viewport: screen });
  await looked(page);
  await eventually(async () => assert.match(await sentence(page), /^At C = 1 clipping turns the mean gradient by .*°/));
  const box = await page.locator("#lab-u").boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + 3 * box.width / 4, box.y + box.height / 2, { steps: 12 });
  await page.mouse.up();
  await said(page);
  const dragged = await stands(page, "#lab-plane");
  assert.ok(dragged > 4 && dragged < 20, `C is ${dragged}`);
  const far = await sentence(page);

  await page.focus("#lab-plane");
  await page.keyboard.press("ArrowDown");
  await said(page);
  await eventually(async () => assert.ok(await page.evaluate(() => { // the ring of the board that has the keyboard: clear of what stands above it
    const { outlineWidth, outlineOffset } = getComputedStyle(document.activeElement), top = document.activeElement.getBoundingClientRect().top;
    return top - parseFloat(outlineWidth) - parseFloat(outlineOffset) - document.activeElement.closest(".lab-pane").querySelector(".badge").getBoundingClientRect().bottom;
  }) >= 1, "the ring of focus reaches the badge"));
  const lower = await stands(page, "#lab-u");
  assert.ok(lower < dragged && lower > dragged * 0.9, `from ${dragged} to ${lower}`);
  await page.keyboard.press("Home");
  await said(page);
  assert.equal(await stands(page, "#lab-u"), 0.01);
  // Names stand apart, though all that they are of is in the middle of the plane.
  await page.evaluate(() => {
    const write = CanvasRenderingContext2D.prototype.fillText, names = window["names"] = [];
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y, w) {
      if (this.canvas.id === "lab-plane" && w !== undefined) names.push({ text, x, y, w });
      return write.apply(this, arguments);
    };
  });
  for (const key of ["ArrowUp", "Home"]) {
    await page.keyboard.press(key);
    await said(page);
  }
  await eventually(async () => { // a board is drawn in the next frame
    const names = await page.evaluate(() => window["names"].slice(-4));
    assert.deepEqual(names.map((n) => n.text.split(" ")[0]).sort(), ["C", "clipped", "mean", "with"]);
    for (const [i, a] of names.entries()) for (const b of names.slice(i + 1)) {
      assert.ok(Math.abs(a.y - b.y) > 15 || a.x > b.x + b.w + 7 || b.x > a.x + a.w + 7, `${JSON.stringify(a)} and ${JSON.stringify(b)} lie too close`);
    }
  });
  assert.notEqual(await sentence(page), far);
  const plane = await page.locator("#lab-plane").boundingBox();
  await page.mouse.click(plane.x + plane.width / 2 + plane.height / 4, plane.y + plane.height / 2);
  await said(page);
  assert.ok(await stands(page, "#lab-u") > 0.1);

  // The sliders change the noise alone, and the advice follows.
  const advice = await page.locator("#lab-advice").textContent();
  await page.focus("#lab-sigma");
  for (let i = 0; i < 3; i++) await page.keyboard.press("PageUp");
  await page.waitForFunction((was) => document.getElementById("lab-advice")?.textContent !== was, advice);
  await page.locator("#lab-sigma-now", { hasText: "ε = " }).waitFor();
  assert.deepEqual(page.errors, []);
});

test("the model is trained on, and a link leads to the same", async (t) => {
  const page = await visit(t, "lab#lab.c=0.3&lab.with=auto-s&data=moons&model.kind=softmax&method=constant&noise_multiplier=1&expected_batch_size=128&steps=60&learning_rate=0.5&max_grad_norm=1&seed=1", { viewport: screen });
  await looked(page);
  await eventually(async () => {
    assert.ok(await page.locator("#with-auto-s").isChecked());
    assert.deepEqual(await page.locator(".field-key ul >> nth=0 >> li").allInnerTexts(), ["A", "B"]);
    const [field, key] = await Promise.all(["#lab-field", ".field-key"].map((s) => page.locator(s).boundingBox()));
    assert.ok(key.x >= field.x + field.width && key.y < field.y + field.height, "the key is not beside its picture");
  });
  const asked = [];
  page.on("request", (r) => asked.push(r.url()));
  await page.click("#lab-on-10");
  await page.locator("h2", { hasText: "at step 10" }).waitFor();
  await looked(page);
  await page.click("#lab-again");
  await page.waitForFunction(() => location.hash.includes("lab.step=10") && location.hash.includes("lab.batch=1"));
  await looked(page);
  await page.locator("#lab-noise").click();
  await page.locator("#lab-measured", { hasText: "100 draws" }).waitFor();
  await said(page);
  await page.screenshot({ path: path.join(results, "lab-wide.png") });
  const [here, link] = [await sentence(page), await page.evaluate(() => location.href)];
  const other = await visit(t, "lab" + new URL(link).hash, { viewport: screen });
  await other.locator("h2", { hasText: "at step 10" }).waitFor();
  await eventually(async () => assert.equal(await sentence(other), here));

  await page.click("#lab-on-100");
  await page.locator("h2", { hasText: "at step 60" }).waitFor(); // which are all that are planned
  await looked(page);
  await page.click("#lab-on-1");
  await page.locator("#lab-problem", { hasText: "all of its steps" }).waitFor();
  await page.click("#lab-back");
  await page.locator("h2", { hasText: "at step 0" }).waitFor();
  assert.deepEqual(asked.filter((url) => url.startsWith("http")), []); // nothing of it leaves the page
  await looked(page);
  const before = await sentence(page);
  await page.selectOption("#f-method", "auto-s"); // which lengthens gradients, by far at a large C
  await eventually(async () => assert.notEqual(await sentence(page), before));
  await looked(page);
  await page.focus("#lab-u");
  await page.keyboard.press("End");
  await said(page);
  assert.deepEqual([...page.errors, ...other.errors], []);
});

test("a model that does not fit leaves no curves of another; a double click sweeps, and does not stop that", async (t) => {
  const page = await visit(t, "lab", { viewport: screen });
  await looked(page);
  const kind = page.locator("#f-model-kind");
  await kind.selectOption("linear");
  await page.locator("#lab-problem:not([hidden])").waitFor();
  await eventually(async () => assert.deepEqual(await Promise.all(["#lab-u", "#lab-plane", "#lab-sentence"].map((s) => page.locator(s).isVisible())), [false, false, false]));
  await page.screenshot({ path: path.join(results, "lab-void-wide.png") });
  await kind.selectOption("softmax");
  await page.locator("#lab-u").waitFor();
  await looked(page);
  await page.dblclick("#sweep-start");
  await eventually(async () => assert.match(await page.locator("#sweep-said").textContent(), /^(?!.*Stopped).*best C = /s));
  assert.deepEqual(page.errors, []);
});

test("a finger that drags moves C, and one that scrolls does not", async (t) => {
  const page = await visit(t, "lab", { viewport: narrow, hasTouch: true, isMobile: true });
  await looked(page);
  const cdp = await page.context().newCDPSession(page);
  const finger = async (/** @type {string} */ board, /** @type {[number, number]} */ from, /** @type {[number, number]} */ to) => {
    await page.locator(board).scrollIntoViewIfNeeded();
    await still();
    const box = await page.locator(board).boundingBox();
    const at = (/** @type {number} */ share) => [{ x: box.x + box.width * (from[0] + share * (to[0] - from[0])), y: box.y + box.height * (from[1] + share * (to[1] - from[1])) }];
    await cdp.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: at(0) });
    for (let i = 1; i <= 12; i++) await cdp.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: at(i / 12) });
    await cdp.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
    await said(page);
  };
  await page.evaluate(() => {
    addEventListener("scroll", () => { window["rolls"] = true; });
    addEventListener("scrollend", () => { window["rolls"] = false; });
  });
  const scrolled = () => page.evaluate(() => scrollY);
  // still waits until a scroll that has come to the page is over.
  const still = () => eventually(async () => assert.ok(!await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(window["rolls"])))))));
  for (const board of ["#lab-u", "#lab-plane"]) {
    await finger(board, [0.6, 0.5], [0.9, 0.52]);
    const right = await stands(page, board);
    await finger(board, [0.9, 0.5], [0.6, 0.5]);
    const left = await stands(page, board);
    assert.ok(right > 1.5 * left, `${board}: ${left} and ${right}`);
    const before = await scrolled();
    await finger(board, [0.3, 0.9], [0.3, 0.3]);
    await eventually(async () => assert.ok(await scrolled() > before + 50, `${board} did not scroll`));
    await still();
    await eventually(async () => assert.equal(await stands(page, board), left, board));
  }
  // By the circle's grip, at its lower right, C follows any way a finger goes.
  await page.locator("#lab-plane").scrollIntoViewIfNeeded();
  await page.locator("#lab-threshold").focus();
  await page.keyboard.press("End");
  await eventually(async () => assert.equal(await stands(page, "#lab-plane"), 100));
  await said(page);
  await still();
  const { width, height } = await page.locator("#lab-plane").boundingBox(), out = 0.48 * Math.SQRT1_2 * Math.min(width, height); // of C = 100
  const before = await scrolled();
  await finger("#lab-plane", [0.5 + out / width, 0.5 + out / height], [0.5 + out / width, 0.55]);
  await eventually(async () => assert.ok(await stands(page, "#lab-plane") < 70, "the circle does not follow upwards"));
  assert.equal(await scrolled(), before);
  assert.deepEqual(page.errors, []);
});

test("on a phone the curves come first, and C is at the thumb", async (t) => {
  const page = await visit(t, "lab", { viewport: narrow, colorScheme: "dark", hasTouch: true });
  await looked(page);
  const pane = page.locator(".lab-pane", { has: page.locator("#lab-plane") });
  const thumb = await eventually(async () => {
    const [u, thumb] = await Promise.all(["#lab-u", "#lab-threshold"].map((s) => page.locator(s).boundingBox()));
    assert.ok(u.y + u.height < narrow.height / 1.8, "the U is not in sight");
    assert.ok(thumb.y > narrow.height - 80 && thumb.width > 300, "C is not at the thumb");
    const [seed, qr] = await Promise.all(["#f-seed", ".lab-setup .qr"].map((s) => page.locator(s).boundingBox()));
    assert.ok(qr.x > seed.x + seed.width && Math.abs(qr.y - seed.y) < 2, "the code is not beside the seed");
    assert.ok((await pane.locator("h2").boundingBox()).height < 30, "the plane's title is in two lines");
    const [plane, lengths] = await Promise.all([page.locator("#lab-plane"), pane.locator(".lab-radius")].map((e) => e.boundingBox()));
    assert.ok(lengths.y >= plane.y && lengths.x + lengths.width < plane.x + plane.width / 2, "the choice of lengths is not in the picture's corner");
    const save = await pane.locator(".save").boundingBox();
    assert.ok(save.x + save.width > narrow.width - 24, "what saves the picture is not at its end");
    return thumb;
  });
  await page.touchscreen.tap(thumb.x + thumb.width * 0.8, thumb.y + thumb.height / 2);
  await eventually(async () => assert.ok(await stands(page, "#lab-u") > 4));
  await said(page);
  await eventually(async () => assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= narrow.width, "it scrolls sideways"));
  await page.screenshot({ path: path.join(results, "lab-narrow.png") });
  // The line of C gives way to the curves' names, wherever it stands.
  const crossed = await page.evaluate(async () => {
    const draws = CanvasRenderingContext2D.prototype, { moveTo, lineTo, fillText, clearRect } = draws, u = document.getElementById("lab-u");
    const names = [], lines = [], bad = new Set();
    let from = [0, 0], seen = 0;
    draws.clearRect = function (...all) { if (this.canvas === u) names.length = lines.length = 0; return clearRect.apply(this, all); };
    draws.moveTo = function (x, y) { from = [x, y]; return moveTo.call(this, x, y); };
    draws.lineTo = function (x, y) {
      if (this.canvas === u && this.lineWidth === 2 && x === from[0] && y !== from[1]) lines.push({ x, from: from[1], to: y });
      return lineTo.call(this, x, y);
    };
    draws.fillText = function (text, x, y, w) { if (this.canvas === u && w !== undefined) names.push({ text, x, y, w }); return fillText.apply(this, arguments); };
    for (const key of ["Home", ...Array(16).fill("ArrowRight")]) {
      u.dispatchEvent(new KeyboardEvent("keydown", { key, shiftKey: key !== "Home", bubbles: true })); // a quarter of a decade
      await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
      seen = Math.max(seen, lines.length);
      for (const n of names) if (lines.some((l) => l.x > n.x - 2 && l.x < n.x + n.w + 2 && l.from < n.y + 6 && l.to > n.y - 6)) bad.add(n.text);
    }
    Object.assign(draws, { moveTo, lineTo, fillText, clearRect });
    return { seen, bad: [...bad], names: names.length };
  });
  assert.ok(crossed.seen > 1 && crossed.names >= 5, "the line or the names were not seen");
  assert.deepEqual(crossed.bad, []);
  assert.deepEqual(page.errors, []);
});
