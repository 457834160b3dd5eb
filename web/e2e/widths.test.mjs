// At every width titles, buttons and fields of the page stand beside each other, none over
// another, and nothing is wider than the window.
import assert from "node:assert/strict";
import { test } from "node:test";
import { frames, narrow, stage, start, wide } from "./browser.mjs";

const { visit } = await stage();

// over are the pairs of what is visible and lies over one another, but for what stays in place
// while the page is scrolled below it.
const over = () => {
  const stays = (/** @type {Element | null} */ e) => {
    for (; e; e = e.parentElement) if (["fixed", "sticky"].includes(getComputedStyle(e).position)) return true;
    return false;
  };
  /** @type {{ e: Element, r: DOMRect, name: string }[]} */
  const boxes = [];
  for (const e of document.querySelectorAll("h1, h2, h3, h4, summary, legend, dt, button, select, .badge, input:not([type=file])")) {
    if (!e.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }) || e.getBoundingClientRect().width <= 2 || stays(e)) continue;
    const text = document.createRange();
    text.selectNodeContents(e);
    const name = `${e.tagName.toLowerCase()}${e.id && "#" + e.id} “${(e.textContent ?? "").trim().slice(0, 30)}”`;
    // Of a title, where its words are: its box is as wide as there is room.
    for (const r of /^(H\d|SUMMARY|LEGEND|DT)$/.test(e.tagName) ? text.getClientRects() : [e.getBoundingClientRect()]) boxes.push({ e, r, name });
  }
  /** @type {Set<string>} */
  const found = new Set();
  for (const [i, a] of boxes.entries()) for (const b of boxes.slice(0, i)) {
    if (a.e.contains(b.e) || b.e.contains(a.e)) continue;
    const w = Math.min(a.r.right, b.r.right) - Math.max(a.r.left, b.r.left), h = Math.min(a.r.bottom, b.r.bottom) - Math.max(a.r.top, b.r.top);
    if (w > 1 && h > 1) found.add(`${b.name} and ${a.name}, ${Math.round(w)} × ${Math.round(h)} px`);
  }
  if (document.documentElement.scrollWidth > innerWidth) found.add(`the page is ${document.documentElement.scrollWidth} px wide`);
  return [...found];
};

test("no title, button or field of a run lies over another, from 360 to 1,600 px", async (t) => {
  // With four charts in a row, which is as narrow as they get.
  const page = await visit(t, "#data=digits&model.kind=softmax&method=dc-e&diagnostics_every=1&noise_multiplier=1&expected_batch_size=64&steps=12");
  await start(page);
  await page.locator("#statement").waitFor();
  /** @type {string[]} */
  const faults = [];
  for (let width = 360; width <= 1600; width += width < 400 ? 20 : 40) {
    await page.setViewportSize({ width, height: 800 });
    await frames(page, 3); // what follows the size does so in the next
    for (const fault of await page.evaluate(over)) faults.push(`${width} px: ${fault}`);
  }
  assert.deepEqual(faults, []);
});

// hidden is by how much controls that nobody sees make the page longer or wider.
const hidden = () => {
  const size = () => [document.documentElement.scrollWidth, document.documentElement.scrollHeight, document.body.scrollWidth, document.body.scrollHeight];
  for (const e of document.querySelectorAll("details")) e.open = true;
  for (const e of document.querySelectorAll(".card-head[aria-expanded=false]")) /** @type {HTMLElement} */ (e).click();
  const before = size(), sheet = new CSSStyleSheet();
  sheet.replaceSync(".visually-hidden { display: none !important; }");
  document.adoptedStyleSheets.push(sheet);
  const after = size();
  document.adoptedStyleSheets.pop();
  return before.map((n, i) => n - after[i]);
};

test("no hidden control makes a page longer", async (t) => {
  const page = await visit(t, "#data=moons&model.kind=softmax&noise_multiplier=1&expected_batch_size=64&steps=12");
  for (const name of ["", "use", "check", "lab", "calculator"]) {
    if (name) await page.goto(page.url().replace(/[^/]*$/, name));
    await page.locator("h1").first().waitFor({ state: "attached" });
    for (const size of [wide, narrow]) {
      await page.setViewportSize(size);
      await frames(page, 3);
      assert.deepEqual(await page.evaluate(hidden), [0, 0, 0, 0], `${name || "train"}, ${size.width} px`);
    }
  }
});
