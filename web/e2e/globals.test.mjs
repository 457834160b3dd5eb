// What the page's scripts put in sight of all others: the API, what Go calls, and what has to be
// there before the page is drawn. Whatever else a script has is its module's own.
import assert from "node:assert/strict";
import { test } from "node:test";
import { STILL, eventually, stage } from "./browser.mjs";

const { server, visit } = await stage();

test("the page has no globals but the listed ones", async (t) => {
  const page = await visit(t, STILL);
  const own = await page.evaluate(() => Object.getOwnPropertyNames(globalThis));
  await page.goto(new URL("guides/", server.url).href); // of the site, without the program
  const browsers = new Set(await page.evaluate(() => Object.getOwnPropertyNames(globalThis)));
  const theirs = /^(goapp\w+|Go|fs|path|process|deferredPrompt|fetchWithProgress)$/; // wasm_exec.js and app.js
  const ours = own.filter((/** @type {string} */ name) => !browsers.has(name) && !theirs.test(name)).sort();
  assert.deepEqual(ours, ["clipscope", "clipscopeEarly", "clipscopePage"]);
});

test("a worker has one global of the site's own", async (t) => {
  const page = await visit(t, STILL);
  await eventually(async () => assert.ok(page.workers().length > 0));
  const names = await page.workers()[0].evaluate(() => Object.getOwnPropertyNames(globalThis).filter((name) => /clipscope|kernels|gpu|backbone/i.test(name)));
  assert.deepEqual(names.filter((/** @type {string} */ name) => !/^GPU/.test(name)), ["clipscopeWorker"]);
});
