// A page that a browser's translator works on tells what one tells that nobody translates: the
// same is done to two pages, and all of their words are compared. The translation here is
// capitals; what it does to the page's texts is each browser's own way.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, ready, stage } from "./browser.mjs";
import { missing, sharedFirefox } from "./firefox.mjs";

const { visit, server } = await stage();
const firefox = sharedFirefox({});

// translator translates the page from now on, as a browser's does: all that is there and all
// that changes. fonts puts every text into two elements, as Chromium's does; merged gathers
// the texts beside one another in the first of them and drops the others, as Firefox's does
// with those of a sentence; anew puts new texts in, as Safari's does.
/** @param {"fonts" | "merged" | "anew"} way */
function translator(way) {
  const translations = new WeakMap();
  const capitals = (/** @type {string} */ s) => s.replace(/[a-z]+/g, (word) => word.toUpperCase());
  /** @param {Text} text */
  function translate(text) {
    const parent = text.parentElement;
    if (!parent || !text.data.trim() || translations.get(text) === text.data || parent.closest("script, style, textarea, [translate=no]")) return;
    if (way === "merged") {
      let all = text.data;
      for (let next = text.nextSibling; next instanceof Text; next = text.nextSibling) {
        all += next.data;
        next.remove();
      }
      text.data = capitals(all);
      translations.set(text, text.data);
      return;
    }
    const translation = document.createTextNode(capitals(text.data));
    translations.set(translation, translation.data);
    if (way === "anew") {
      text.replaceWith(translation);
      return;
    }
    const outer = document.createElement("font"), inner = document.createElement("font");
    inner.appendChild(translation);
    outer.appendChild(inner);
    parent.replaceChild(outer, text);
  }
  /** @param {Node} root */
  function translateAll(root) {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT), texts = [];
    for (let n = root instanceof Text ? root : walker.nextNode(); n; n = walker.nextNode()) texts.push(n);
    for (const text of texts) translate(/** @type {Text} */ (text));
  }
  translateAll(document.body);
  new MutationObserver((changes) => {
    for (const c of changes) for (const n of c.type === "characterData" ? [c.target] : c.addedNodes) if (n.isConnected) translateAll(n);
  }).observe(document.body, { childList: true, subtree: true, characterData: true });
}

// told lists what the page says, in small letters, element by element, but for what no two
// pages say alike: how fast they are, when, and how much of a run they kept.
function told() {
  const fast = document.getElementById("run-place")?.textContent?.toLowerCase();
  return Array.from(document.querySelectorAll("main, .top nav")).flatMap((part) => {
    const copy = /** @type {Element} */ (part.cloneNode(true));
    for (const e of copy.querySelectorAll("*")) if (e.nodeName !== "FONT") e.append("\n");
    return (copy.textContent ?? "").toLowerCase().split("\n").filter((line) => line.trim() && line !== fast);
  }).map((line) => line.replace(/\d\d:\d\d:\d\d/g, "…").replace(/[\d.,]+ (ms|s|min|kb|mb)\b/g, "…"));
}

const config = { data: "moons", model: { kind: "softmax" }, method: "constant", accountant: "rdp", expected_batch_size: 64, learning_rate: 0.5, max_grad_norm: 1, seed: 1, steps: 2000 };
const link = "noise_multiplier=1&model.kind=softmax&" + Object.entries(config).filter(([, v]) => typeof v !== "object").map(([k, v]) => `${k}=${v}`).join("&");

// click and type do what a hand would.
const click = (/** @type {string} */ on) => /** @type {HTMLElement} */ (document.querySelector(on)).click();
function type([into, text]) {
  const field = /** @type {HTMLInputElement} */ (document.querySelector(into));
  field.value = text;
  for (const name of ["input", "change"]) field.dispatchEvent(new Event(name, { bubbles: true }));
}
const holds = ([on, text]) => Array.from(document.querySelectorAll(on), (e) => e.textContent?.toLowerCase()).join(" ").includes(text.toLowerCase());

// near reports whether a number on the page is ε of so much noise, as the scripting API has it.
async function near([on, sigma, config]) {
  const { epsilon } = await window.clipscope.plan({ ...config, noise_multiplier: sigma }), shown = Number(document.querySelector(on)?.textContent);
  return shown >= epsilon * (1 - 1e-9) && shown <= epsilon * 1.01;
}

// Each step is what is done, and then where the page has what text, or ε of what noise.
/** @type {[string, Function, any, string, string | number][]} */
const steps = [
  ["the page", () => {}, null, ".runbar .left", "ready"],
  ["more noise", type, ["#f-noise_multiplier", "4"], ".spent strong", 4],
  ["less noise", type, ["#f-noise_multiplier", "0.6"], ".spent strong", 0.6],
  ["an error", type, ["#f-noise_multiplier", "x"], "#f-noise_multiplier-fault", "number"],
  ["mended", type, ["#f-noise_multiplier", "0.7"], ".spent strong", 0.7],
  ["another model", type, ["#f-model-kind", "mlp"], "#card-model .card-line", "mlp"],
  ["the first step", click, "#act-step", ".runbar .steps", "step 1 / "],
  ["another step", click, "#act-step", ".runbar .steps", "step 2 / "],
  ["a third", click, "#act-step", ".runbar .steps", "step 3 / "],
  ["goes on", click, "#act-start", "#act-pause", "pause"],
  ["the end", () => {}, null, ".runbar .left", "finished"],
  ["the list of runs", click, "#runs", "#runs-list", "kept in this browser"],
  ["Calculator", click, ".top nav a[href$=calculator]", "#answer", "target_delta"],
  ["another σ", type, ["#f-noise_multiplier", "2"], "#answer", "σ2noise_multiplier"],
  ["Use", click, ".top nav a[href$=use]", "main", "model"],
  ["Lab", click, ".top nav a[href$=lab]", "#lab-sentence", "at c = "],
  ["Help", click, ".top nav a[href$=help]", "main", "reading a private run"],
  ["Train again", click, ".top nav a[href$='/']:not(.brand)", ".runbar .left", "finished"],
  ["a new experiment", click, "#act-reset", ".runbar .left", "ready"],
];

/** @param {any} plain @param {any} translated @param {typeof steps} some */
async function compare(plain, translated, some) {
  for (const [name, act, x, on, text] of some) {
    await plain.evaluate(act, x);
    await translated.evaluate(act, x);
    await eventually(async () => {
      const there = typeof text === "number" ? plain.evaluate(near, [on, text, config]) : plain.evaluate(holds, [on, text]);
      assert.ok(await there, `${name}: ${on} has no ${text}, but ${await plain.evaluate((on) => document.querySelector(on)?.textContent, on)}`);
    });
    await eventually(async () => {
      const [want, have] = [await plain.evaluate(told), await translated.evaluate(told)];
      const at = want.findIndex((line, i) => line !== have[i]);
      assert.ok(at < 0 && have.length === want.length, `${name}: “${have.slice(at - 1, at + 2)}”, and untranslated “${want.slice(at - 1, at + 2)}”`);
    });
  }
  assert.deepEqual([plain.errors, translated.errors], [[], []]);
}

// The pages are changed in one way in all translations: where one is done with Train, the
// others would say nothing more of the rest.
const onTrain = steps.slice(0, steps.findIndex(([name]) => name === "Calculator"));

for (const [way, some] of /** @type {const} */ ([["fonts", steps], ["merged", onTrain], ["anew", onTrain]])) {
  test(`a translated page tells what it tells otherwise: ${way}`, async (t) => {
    const plain = await visit(t, "#" + link), translated = await visit(t, "#" + link);
    await translated.evaluate(translator, way);
    await compare(plain, translated, some);
  });
}

test("a translated page tells what it tells otherwise: fonts, Firefox", { skip: missing }, async (t) => {
  const plain = await visit(t, "#" + link), translated = await (await firefox()).page(`${server.url}#${link}`);
  await ready(translated);
  await translated.evaluate(translator, "fonts");
  await compare(plain, translated, steps);
});
