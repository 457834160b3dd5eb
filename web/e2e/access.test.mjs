// The page for those who use it by keyboard, by ear, much enlarged, or on paper.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { audited } from "./axe.mjs";
import { STILL, eventually, narrow, pages, ready, results, root, stage, wide } from "./browser.mjs";

const { alone, server, visit: arrive } = await stage();

/** @param {any} t @param {string} where @param {any} [options] */
async function visit(t, where, options) {
  const page = await arrive(t, where, options);
  if (!/^(help|stories|calculator|use|lab)/.test(where)) await page.locator("#act-start[aria-disabled=false]").waitFor();
  return page;
}

const short = "#data=digits&model.kind=softmax&method=dc-e&noise_multiplier=1&expected_batch_size=256&steps=60&learning_rate=0.5";
const finished = (page) => page.locator("#result").waitFor();
const focused = (page, id) => eventually(async () => assert.equal(await page.evaluate(() => document.activeElement?.id || document.activeElement?.tagName), id));

// turn opens another page by the bar above, and waits for its heading: one of the page before
// is no sign.
/** @param {any} page @param {string} where */
async function turn(page, where) {
  await page.click(`nav >> text=${where}`);
  await page.locator("h1", { hasText: { Use: "Use a model", Calculator: "Privacy calculator", Help: "Reading a private run" }[where] }).waitFor();
}

// What axe-core calls page-has-heading-one, link-name and button-name, and that a page
// has one main part.
const unnamed = (page) => page.evaluate(() => {
  const seen = (e) => e.checkVisibility({ visibilityProperty: true });
  const text = (e) => [...e.childNodes].map((n) => n.nodeType === 3 ? n.textContent : n.nodeType === 1 && seen(n) && n.getAttribute("aria-hidden") !== "true" ? text(n) : "").join("");
  const name = (e) => (e.getAttribute("aria-label") ?? text(e)).trim();
  const bad = [...document.querySelectorAll("a[href], button, summary")].filter((e) => seen(e) && !name(e)).map((e) => `${e.tagName} ${e.id} ${e.className}`);
  const count = (selector) => [...document.querySelectorAll(selector)].filter(seen).length;
  return [...bad, ...(count("h1") === 1 ? [] : [`${count("h1")} headings of the first level`]), ...(count("main") === 1 ? [] : [`${count("main")} main parts`])];
});

test("every page has a title of its own, one heading above all, names for its links, and says what it sent", async (t) => {
  const titles = new Set(), page = await visit(t, STILL);
  assert.ok(pages.length > 6, pages.join());
  for (const where of pages) {
    await page.goto(server.url + where);
    if (where !== "stories") await ready(page);
    if (where === "") await page.locator("#act-start[aria-disabled=false]").waitFor();
    for (const viewport of [wide, { width: 320, height: 568 }]) {
      await page.setViewportSize(viewport);
      await eventually(async () => assert.deepEqual(await unnamed(page), [], `/${where} at ${viewport.width}`));
      titles.add(await page.title());
      assert.match(await page.title(), /\S · Clipscope$/);
    }
    // The laboratory may ask for the papers' figures, where they are not kept yet.
    await page.locator("#counter", { hasText: where === "lab" ? /0 bytes|1 request/ : "0 bytes" }).waitFor({ state: "attached" });
  }
  assert.equal(titles.size, pages.length, [...titles].join());
  await page.setViewportSize(wide);
  await page.click("nav >> text=Help");
  await page.waitForFunction(() => document.title.startsWith("Help"));
});

test("the keyboard stays where it is when a run starts, pauses and ends, and its end is told", async (t) => {
  const page = await visit(t, short);
  // Every value that the button and the line take on is looked at, also those between two frames.
  await page.evaluate(() => {
    const lost = window["lost"] = [], said = window["said"] = [];
    document.addEventListener("focusout", (e) => { if (!e.relatedTarget) lost.push(/** @type {any} */ (e.target).id); });
    new MutationObserver(() => said.push(document.querySelector("#run-said").textContent)).observe(document.querySelector("#runbar"), { subtree: true, childList: true, characterData: true });
  });
  await page.focus("#act-start");
  await page.keyboard.press("Enter");
  assert.equal(await page.locator("#run-said").getAttribute("role"), "status");
  await finished(page);
  await focused(page, "act-start");
  await eventually(async () => assert.match(await page.locator("#run-said").textContent(), /^The run has ended after 60 of 60 steps; it is charged ε \d/));
  assert.ok((await page.evaluate(() => window["said"])).includes("The run has started."));
  await page.focus("#act-reset");
  await page.keyboard.press("Enter");
  await page.locator("#result").waitFor({ state: "detached" });
  await focused(page, "act-reset");
  await page.focus("#act-step");
  await page.keyboard.press("Enter");
  await page.locator("#run-said", { hasText: "The run is paused after 1 step." }).waitFor({ state: "attached" });
  await focused(page, "act-step");
  await page.focus("#act-stop");
  await page.keyboard.press("Enter");
  await finished(page);
  await focused(page, "act-stop");
  assert.deepEqual(await page.evaluate(() => window["lost"]), []);
  assert.deepEqual(page.errors, []);
});

test("the keyboard stays in a menu that has its card made anew", async (t) => {
  const page = await visit(t, short);
  await page.click("#card-optimiser .card-head");
  await page.locator("#f-optimizer").waitFor(); // what is not shown yet takes no focus
  await page.focus("#f-optimizer");
  await page.evaluate(() => { window["old"] = document.querySelector("#f-optimizer"); });
  await page.keyboard.press("ArrowDown");
  await page.locator("#f-momentum").waitFor();
  await page.waitForFunction(() => !window["old"].isConnected && document.activeElement?.id === "f-optimizer");
  assert.deepEqual(page.errors, []);
});

test("the sheet takes the focus and gives it back", async (t) => {
  const page = await visit(t, short, { viewport: narrow });
  await page.click(".setup");
  await focused(page, "experiment-first");
  await page.keyboard.press("Escape");
  await focused(page, "act-start");
});

// 320 pixels are 1280 at 400 %.
for (const [what, viewport] of Object.entries({ "a small phone": { width: 320, height: 568 }, "400 %": { width: 320, height: 200 } })) {
  test(`nothing is wider than ${what}, and the run bar stays`, async (t) => {
    const page = await visit(t, short, { viewport, hasTouch: true });
    const fits = (state) => eventually(async () => {
      const wrong = await page.evaluate(() => [
        ...(document.documentElement.scrollWidth > 320 ? [`the page is ${document.documentElement.scrollWidth} wide`] : []),
        ...[...document.querySelectorAll("body *")].filter((e) => e.checkVisibility() && e.getBoundingClientRect().right > 321 && e.getBoundingClientRect().width > 1 && !e.closest(".columns, pre, .formula, .statement-text, .visually-hidden, canvas, .uplot")).map((e) => `${e.tagName} ${e.id} ${e.className}`),
      ]);
      assert.deepEqual(wrong, [], state);
      const bar = await page.locator(".runbar").boundingBox();
      assert.ok(bar.x === 0 && bar.width === 320 && Math.abs(bar.y + bar.height - viewport.height) < 1, `${state}: the run bar is at ${JSON.stringify(bar)}`);
    });
    await fits("idle");
    await page.click(".setup");
    for (const card of ["data", "model", "clipping", "privacy", "optimiser"]) {
      await page.evaluate((card) => /** @type {any} */ (document.querySelector(`#card-${card} .card-head[aria-expanded=false]`))?.click(), card);
      await page.locator(`#card-body-${card}`).waitFor();
      await fits(card);
    }
    await page.setInputFiles("#files", { name: "a.csv", mimeType: "text/csv", buffer: Buffer.from("a,b,c,d,e,y\n" + Array.from({ length: 60 }, (_, i) => `${i % 7},${i % 3},${i % 5},x,z,${i % 2}`).join("\n")) });
    await page.locator("#card-data .card-line", { hasText: "a.csv" }).waitFor();
    await fits("a table");
    await page.click("#show-table");
    await page.locator("#table").waitFor();
    await fits("the table as it is read");
    await page.screenshot({ path: path.join(results, `table-${viewport.height}-light.png`) });
    await page.click("#act-start");
    await finished(page);
    await fits("finished");
    await page.screenshot({ path: path.join(results, `finished-${viewport.height}-light.png`) });
    for (const where of ["use", "calculator", "help"]) {
      await page.goto(server.url + where);
      await ready(page);
      await page.locator("h1").waitFor();
      await eventually(async () => assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 320, where));
    }
    assert.deepEqual(page.errors, []);
  });
}

test("the counter's longest count leaves a phone's header as wide as the phone", async (t) => {
  const page = await visit(t, "", { viewport: { width: 361, height: 700 }, hasTouch: true });
  for (const width of [361, 375, 404]) for (const text of ["999 bytes sent", "1,234 requests"]) {
    await page.setViewportSize({ width, height: 700 });
    await eventually(async () => assert.equal(await page.evaluate((text) => {
      document.querySelector("#counter > span:not(.dot)").firstChild.textContent = text;
      return document.documentElement.scrollWidth;
    }, text), width, text));
  }
});

test("a projector shows every chart beside a result", async (t) => {
  const page = await visit(t, short, { viewport: { width: 1280, height: 720 } });
  await page.evaluate(() => {
    const write = CanvasRenderingContext2D.prototype.fillText, names = window["names"] = {};
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
      if (this.canvas.closest("#panel-learning")) (names[text] ??= []).push(y / devicePixelRatio); // where its middle is
      return write.apply(this, arguments);
    };
  });
  await page.click("#act-start");
  await finished(page);
  await eventually(async () => { // charts are drawn when the page has time
    const { batch, test } = await page.evaluate(() => window["names"]);
    assert.ok(Math.min(...batch, ...test) >= 5, `a line's name is cut: ${Math.min(...batch, ...test)}`);
    const fold = await page.evaluate(() => [...document.querySelectorAll(".panel, .runbar")].filter((e) => e.getBoundingClientRect().bottom > 721).map((e) => e.id || e.className));
    assert.deepEqual(fold, []);
  });
  await page.screenshot({ path: path.join(results, "finished-projector-light.png") });
});

test("no text is smaller than 12 pixels, in charts either", async (t) => {
  const page = await arrive(t, "", { viewport: wide });
  await page.evaluate(() => {
    const drawn = window["drawn"] = new Set();
    const write = CanvasRenderingContext2D.prototype.fillText;
    CanvasRenderingContext2D.prototype.fillText = function (...args) {
      drawn.add(parseFloat(this.font) / devicePixelRatio);
      return write.apply(this, args);
    };
  });
  await page.locator("#act-start[aria-disabled=false]").waitFor();
  await page.click("#act-start");
  await page.waitForFunction(() => /** @type {any} */ (window).drawn.size > 0);
  const small = () => page.evaluate(() => [...document.querySelectorAll("body *")].filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent?.trim()) && e.checkVisibility() && parseFloat(getComputedStyle(e).fontSize) < 12).map((e) => `${e.tagName} ${e.id} ${e.className}`));
  assert.deepEqual(await small(), []);
  const drawn = await page.evaluate(() => [...window["drawn"]]);
  assert.ok(Math.min(...drawn) >= 12, drawn.join());
  for (const where of ["Use", "Calculator", "Help"]) {
    await turn(page, where);
    assert.deepEqual(await small(), [], where);
  }
});

test("a small threshold is seen among the norms", async (t) => {
  const page = await visit(t, "#data=digits&model.kind=softmax&method=constant&max_grad_norm=0.01&noise_multiplier=1&expected_batch_size=256&steps=40&learning_rate=0.5");
  await page.evaluate(() => {
    const marks = window["marks"] = [];
    const write = CanvasRenderingContext2D.prototype.fillText;
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
      if (this.canvas.closest("#panel-norms") && text.startsWith("C ")) marks.push(x / this.canvas.width);
      return write.call(this, text, x, y);
    };
  });
  await page.click("#act-start");
  await finished(page);
  await eventually(async () => {
    const marks = await page.evaluate(() => window["marks"]);
    assert.ok(marks.length > 0 && marks.every((x) => x > 0.2 && x < 0.8), `C stands at ${marks} of the chart`);
  });
  await page.screenshot({ path: path.join(results, "norms-log-wide-light.png") });
});

test("on paper stands what a run came to, on white, without controls", async (t) => {
  const page = await visit(t, short, { colorScheme: "dark" });
  await page.click("#act-start");
  await finished(page);
  // The ground that the chart is inked for, by what of its lines is more: the dark amber
  // for paper, or the bright one.
  const inkedFor = () => page.locator("#panel-learning canvas").first().evaluate((c) => {
    const { data } = c.getContext("2d").getImageData(0, 0, c.width, c.height);
    const near = (i, rgb) => rgb.every((v, k) => Math.abs(data[i + k] - v) < 24);
    let paper = 0, night = 0;
    for (let i = 0; i < data.length; i += 4) {
      if (data[i + 3] < 200) continue;
      if (near(i, [0x93, 0x5a, 0x00])) paper++;
      if (near(i, [0xea, 0xa6, 0x1c])) night++;
    }
    return paper + night < 50 ? "neither" : paper > night ? "light" : "dark";
  });
  // Charts are drawn when the page has time.
  const becomes = (/** @type {string} */ ground) => eventually(async () => assert.equal(await inkedFor(), ground));
  await becomes("dark");
  // The browser says so before it prints, and what is drawn then is printed.
  await page.setViewportSize({ width: 718, height: 1000 });
  await page.emulateMedia({ media: "print" });
  await page.evaluate(() => { dispatchEvent(new Event("beforeprint")); });
  await becomes("light");
  await eventually(async () => {
    const paper = await page.evaluate(() => {
      const seen = (selector) => [...document.querySelectorAll(selector)].filter((e) => e.checkVisibility({ contentVisibilityAuto: true })).map((e) => `${e.tagName} ${e.id} ${e.className}`);
      return {
        controls: seen("button, input, select, nav, .counter"), scheme: getComputedStyle(document.documentElement).colorScheme,
        ground: getComputedStyle(document.querySelector(".result")).backgroundColor,
        statement: /** @type {HTMLElement} */ (document.querySelector(".statement-text")).getBoundingClientRect().height,
        charts: seen(".panel").length, cut: [...document.querySelectorAll(".stage, .statement-text")].filter((e) => e.scrollHeight > e.clientHeight + 1).length,
        wide: document.documentElement.scrollWidth,
      };
    });
    assert.deepEqual(paper.controls, []);
    assert.equal(paper.scheme, "light");
    assert.match(paper.ground, /255, 255, 255/);
    assert.ok(paper.statement > 100, "the statement is folded away");
    assert.equal(paper.charts, 5);
    assert.equal(paper.cut, 0, "something is cut off");
    assert.ok(paper.wide <= 718, `${paper.wide} wide`);
  });
  await page.screenshot({ path: path.join(results, "print.png"), fullPage: true });
  await page.evaluate(() => { dispatchEvent(new Event("afterprint")); });
  await page.emulateMedia({ media: "screen" });
  await becomes("dark");
  assert.deepEqual(page.errors, []);
});

test("axe-core finds nothing serious on any page, light or dark", async (t) => {
  const found = [], look = async (page, state, ...except) => found.push(...await audited(page, state, except));
  const page = await visit(t, short.replace("steps=60", "steps=100000"));
  for (const card of ["model", "clipping", "privacy", "optimiser"]) {
    await page.click(`#card-${card} .card-head`);
    await page.locator(`#card-body-${card}`).waitFor();
  }
  await look(page, "Train");
  await page.click("#act-start");
  await page.locator("#panel-learning .empty").first().waitFor({ state: "hidden" });
  await page.click("#act-pause");
  await look(page, "Train, in a run");
  await page.click("#act-stop");
  await finished(page);
  await look(page, "Train, after a run");
  for (const where of ["Use", "Calculator", "Help"]) {
    await turn(page, where);
    await look(page, where);
  }

  const stories = await visit(t, "stories");
  await stories.locator("h1").first().waitFor();
  await look(stories, "stories", "label-title-only"); // a component's ids are there once for each of its stories

  const lab = await visit(t, "lab#lab.lanes=max_grad_norm=0.1,1&data=moons&model.kind=softmax&method=constant&noise_multiplier=1&expected_batch_size=128&steps=20&learning_rate=0.5&max_grad_norm=1&seed=1");
  await lab.locator("#lanes-start").click();
  await lab.locator("#lanes-table", { hasText: "done" }).waitFor();
  await lab.locator("#sweep-start").click();
  await lab.locator("#sweep-stop").click();
  await lab.locator(".teacher").waitFor({ state: "attached" });
  await lab.locator(".figure-list").waitFor({ state: "attached" });
  await lab.evaluate(() => { for (const d of document.querySelectorAll("details")) d.open = true; });
  await lab.locator(".figure-list button").first().click();
  await lab.locator("#figure-run").waitFor();
  await look(lab, "Lab");
  await lab.locator(".lesson-list button").last().click(); // which has options to choose from
  await lab.locator("#lesson-next").click();
  await look(lab, "a lesson");
  await lab.goto(new URL("lab#lesson=epsilon", lab.url()).href);
  await lab.locator("#guess-best").waitFor();
  await look(lab, "the game");
  assert.deepEqual(found, []);
});

test("axe-core finds nothing serious on a page without the program, and nothing is cut off", async (t) => {
  const page = await (await alone(t)).newPage(), found = [];
  const guides = fs.readdirSync(path.join(root, "dist/guides"), { withFileTypes: true }).filter((e) => e.isDirectory()).map((e) => `guides/${e.name}/`);
  assert.ok(guides.length > 10, guides.join());
  for (const where of ["guides/", ...guides, "verify.html", "no/such/page"]) {
    await page.setViewportSize(wide);
    await page.goto(server.url + where);
    found.push(...await audited(page, where), ...(await unnamed(page)).map((e) => `${where}: ${e}`));
    await page.setViewportSize({ width: 320, height: 568 });
    await eventually(async () => {
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= 320, `${where} is ${width} wide on a phone`);
    });
  }
  assert.deepEqual(found, []);
});

test("guides lead to the program and back, and from one to the next", async (t) => {
  const page = await visit(t, "help");
  await page.click("#guides-link a");
  await page.waitForURL("**/guides/");
  await page.click("nav.beside [rel=next]");
  await page.waitForURL("**/guides/getting-started/");
  await page.click("nav.contents >> text=Your own files");
  await page.waitForURL("**/#your-own-files");
  await page.locator("pre a").first().click();
  await page.locator("#act-start[aria-disabled=false]").waitFor();
  await eventually(async () => {
    assert.match(await page.evaluate(() => location.pathname + location.hash), /^\/#data=moons&.*seed=1/);
    assert.match(await page.locator("#card-data").innerText(), /moons/i);
  });
  await page.goBack();
  await page.waitForURL("**/guides/getting-started/**");
  await page.click("nav >> text=Help");
  await page.click("#version a");
  await page.waitForURL("**/verify.html");
  await page.click(".brand");
  await page.locator("#act-start[aria-disabled=false]").waitFor();
  assert.deepEqual(page.errors, []);
});
