// The page within another one: what that may ask, what it is told, and who may at all
// (docs/embedding.md).
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { audited } from "./axe.mjs";
import { eventually, host, launch, listening, root, serve, wide } from "./browser.mjs";
import { missing, sharedFirefox } from "./firefox.mjs";

// The page around is the guide's, which copies of it begin with.
const example = fs.readFileSync(path.join(root, "docs/embedding.md"), "utf8").match(/```text\n(<!doctype[^]*?)```/)[1];

// Hosts are one server, which is two origins: 127.0.0.1 is named by the site, localhost is not.
const around = http.createServer((req, res) => {
  const url = new URL(req.url ?? "/", "http://host");
  res.setHeader("Content-Type", "text/html");
  if (url.searchParams.has("isolated")) {
    res.setHeader("Cross-Origin-Opener-Policy", "same-origin");
    res.setHeader("Cross-Origin-Embedder-Policy", "require-corp");
  }
  res.end(example.replace("https://clipscope.example.org/?embed", url.searchParams.get("site")) + `<script>
    window.told = [];
    addEventListener("message", (e) => { if (e.source === frame.contentWindow) told.push({ origin: e.origin, ...e.data }); });
    window.tell = (message) => frame.contentWindow.postMessage(message, site);
  </script>`);
});
const { origin: named, close } = await listening(around), other = named.replace("127.0.0.1", "localhost");
after(close);

const dir = fs.mkdtempSync(path.join(os.tmpdir(), "clipscope-embed-"));
after(() => fs.rmSync(dir, { recursive: true, force: true }));
execFileSync("bin/clipscope", ["-generate", "-frame-ancestors", named, "-out", path.join(dir, "site")], { cwd: root });
const browser = await launch();
after(() => browser.close());
const server = await serve("-out", path.join(dir, "site"), "-frame-ancestors", named);
after(server.close);

const firefox = sharedFirefox({});

/** @param {any} t @param {string} site @param {string} from @param {string} [more] @returns {Promise<any>} */
async function embedded(t, site, from = named, more = "") {
  const context = await browser.newContext({ viewport: wide });
  t.after(() => context.close());
  const page = /** @type {any} */ (await context.newPage());
  page.errors = [];
  page.on("pageerror", (/** @type {Error} */ e) => page.errors.push(e.message));
  await page.goto(`${from}/?site=${encodeURIComponent(site)}${more}`);
  page.inside = page.frames()[1];
  // said waits for a message of a type, after those that were taken.
  page.said = async (/** @type {string} */ type, /** @type {string | number | undefined} */ id) => {
    const found = await page.waitForFunction(([type, id]) => window["told"].find((m) => m.type === type && (id === null || m.id === id)), [type, id ?? null]);
    return found.jsonValue();
  };
  page.send = (/** @type {object} */ m) => page.evaluate((m) => window["tell"](m), { clipscope: 1, ...m });
  return page;
}

test("a page around that is named", async (t) => {
  const page = await embedded(t, server.url + "?embed", named, "&isolated");
  await t.test("chooses settings, starts a run and is told of it", () => runs(page));
  await t.test("is refused or ignored where it is hostile, and the page goes on", () => attacks(page));
  await t.test("can only stop once a file was chosen, and is told of nothing in it", () => reaches(page));
  assert.deepEqual(page.errors, []);
});

/** @param {any} page */
async function runs(page) {
  const ready = await page.said("ready");
  assert.equal(ready.origin, new URL(server.url).origin);
  assert.ok(ready.isolated, "threads, where the host passes isolation on");
  assert.match(ready.version, /^\d+\.\d+\.\d+\+/);
  const plan = await page.said("plan", "mine");
  assert.deepEqual([plan.steps, plan.private], [40, true]);
  await eventually(async () => {
    assert.match(await page.inside.evaluate(() => location.hash), /steps=40/);
    assert.ok(await page.inside.locator("nav[aria-label=Pages], .foot > .qr").evaluateAll((/** @type {Element[]} */ all) => all.length === 2 && all.every((e) => !e.checkVisibility())));
    assert.ok(await page.inside.locator("#counter").isVisible());
    assert.match(await page.inside.locator(".framed").innerText(), new RegExp(`^Shown by ${named}\\.`));
  });
  assert.match((await page.said("state")).phase, /starting|running/); // the guide's page has started it
  const progress = await page.said("progress"), done = await page.said("done");
  assert.ok(progress.epsilon > 0 && progress.epsilon <= done.epsilon && done.epsilon <= plan.epsilon * 1.000001, JSON.stringify([progress, done]));
  assert.deepEqual([done.step, done.steps, progress.released.max_grad_norm], [40, 40, 1]);
  await eventually(async () => assert.match(await page.locator("#said").innerText(), /^Done after 40 steps, ε 2$/));
  const keys = new Set(await page.evaluate(() => window["told"].flatMap((m) => [...Object.keys(m), ...Object.keys(m.released ?? {})])));
  assert.deepEqual([...keys].sort(), ["clipscope", "delta", "epsilon", "files", "id", "isolated", "max_grad_norm", "noise_multiplier", "noisy_grad_norm", "origin", "phase",
    "private", "released", "step", "steps", "type", "version"]);
  await page.send({ type: "config", id: "bad", config: { steps: "many" } });
  assert.match((await page.said("refused", "bad")).why, /steps/);
  assert.deepEqual(await audited(page, "framed, after a run", [], page.inside), []);
}

/** @param {any} page */
async function attacks(page) {
  await page.evaluate(() => { window["told"].length = 0; });
  const before = await page.inside.evaluate(() => location.hash);
  const counted = await page.evaluate(() => {
    const deep = (/** @type {number} */ n) => { let v = {}; for (let i = 0; i < n; i++) v = { v }; return v; };
    const list = (/** @type {number} */ n) => { let v = []; for (let i = 0; i < n; i++) v = [v]; return v; };
    const round = { clipscope: 1, type: "config", config: {} };
    round.config = round;
    const proto = JSON.parse('{"clipscope":1,"type":"config","config":{"__proto__":{"steps":3},"constructor":{"prototype":{"polluted":1}}}}');
    const odd = [undefined, null, true, 0, NaN, -0, 1n, "", "config", "x".repeat(1e6), [], {}, new Date(), /x/, new Map([["clipscope", 1]]), new Set([1]),
      new Uint8Array(1e6), new ArrayBuffer(8), new Blob(["x"]), new File(["x"], "x"), new Error("x"), deep(500), list(500)];
    const values = [...odd, deep(5), { steps: -1 }, { steps: 1e300 }, { data: "files" }, { data: "../x" }, { data: {} }, { model: [] }, { model: { kind: 7 } },
      { seed: "x" }, { csv: { bounds: { a: { lo: { x: 1 } } } } }, { layers: Array(1e6).fill("dense") }, { note: "x".repeat(1e5) }, Object.fromEntries(Array.from({ length: 20000 }, (_, i) => ["k" + i, i])),
      { method: "<img src=x onerror=alert(1)>" }, { toString: 1 }, { hasOwnProperty: 1 }, Object.assign([], { steps: 1 }), { steps: [1] }, { steps: new Date() }];
    const hostile = [
      ...odd,
      ...values.map((config) => ({ clipscope: 1, type: "config", config })),
      ...odd.map((type) => ({ clipscope: 1, type })),
      ...odd.map((clipscope) => ({ clipscope, type: "state" })),
      ...odd.map((id) => ({ clipscope: 1, type: "none", id })),
      ...["ready", "plan", "done", "__proto__", "constructor", "toString", "hasOwnProperty", "START", "start "].map((type) => ({ clipscope: 1, type })),
      ...[2, 0, -1, 1.5, "1", Infinity].map((clipscope) => ({ clipscope, type: "start" })), round, proto,
      { clipscope: 1, type: "pause" }, { clipscope: 1, type: "resume" }, { clipscope: 1, type: "stop" },
    ];
    for (const m of hostile) window["tell"](m);
    window["tell"]({ clipscope: 1, type: "state", id: "last" });
    return hostile.length;
  });
  assert.ok(counted > 100, String(counted));
  assert.equal((await page.said("state", "last")).phase, "done");
  // Up to the last answer: the plan of what was a configuration comes when it is made.
  const told = await page.evaluate(() => window["told"].slice(0, 1 + window["told"].findIndex((m) => m.id === "last")).map(({ type, why }) => [type, why]));
  assert.deepEqual([...new Set(told.map(([type]) => type))].sort(), ["refused", "state"]);
  const refusals = told.filter(([type]) => type === "refused");
  assert.ok(refusals.length > 80 && refusals.every(([, why]) => typeof why === "string" && why.length > 10 && why.length < 2000), JSON.stringify(refusals));
  for (const why of [/too deep/, /too large/, /no plain object/, /speaks version 1/, /no such message/, /no such field/]) assert.ok(refusals.some(([, said]) => why.test(said)), String(why));
  assert.ok(await page.inside.evaluate(() => !("polluted" in {}) && !("steps" in {})));
  // What were configurations has been taken, and the next one is.
  await page.send({ type: "config", id: "next", config: { steps: 7, model: { kind: "softmax" } } });
  assert.equal((await page.said("plan", "next")).steps, 7);
  await eventually(async () => assert.notEqual(await page.inside.evaluate(() => location.hash), before));
}

/** @param {any} page */
async function reaches(page) {
  const marker = "Zanzibar4711";
  await page.evaluate(() => { window["told"].length = 0; });
  const rows = Array.from({ length: 400 }, (_, i) => `${i % 7},${marker}${i % 3},${i % 2 ? marker : "no"}\n`).join("");
  await page.inside.setInputFiles('input[type="file"] >> nth=0', { name: `${marker}.csv`, mimeType: "text/csv", buffer: Buffer.from(`x,c${marker},label\n${rows}`) });
  for (const type of ["config", "start", "pause", "resume"]) {
    await page.send({ type, id: type, config: { steps: 3 } });
    assert.match((await page.said("refused", type)).why, /A file was chosen/);
  }
  await eventually(async () => assert.match(await page.inside.locator(".framed").innerText(), /can only stop a run/));
  await page.inside.waitForFunction((/** @type {string} */ m) => document.body.innerText.includes(m), marker);
  const hash = () => page.inside.evaluate(() => location.hash);
  await page.inside.waitForFunction(() => location.hash.includes("data=files"));
  const chosen = await hash();
  await page.inside.evaluate(() => addEventListener("popstate", () => { document.documentElement.dataset.led = "yes"; }));
  await page.evaluate((/** @type {string} */ to) => { document.querySelector("iframe").src = to; }, server.url + "?embed#data=digits&no_privacy=true");
  await page.send({ type: "state", id: "a" });
  assert.equal((await page.said("state", "a")).files, true);
  await page.inside.waitForFunction((/** @type {string} */ was) => document.documentElement.dataset.led && location.hash === was, chosen);
  await page.inside.locator("#act-start[aria-disabled=false]").waitFor();
  const before = await page.evaluate(() => JSON.stringify(window["told"].splice(0)));
  await page.inside.click("#act-start");
  await page.said("progress");
  await page.send({ type: "stop", id: "s" });
  await page.said("done");
  const told = await page.evaluate(() => JSON.stringify(window["told"]));
  assert.doesNotMatch(before + told, /Zanzibar|accuracy|loss|"plan"/);
  assert.doesNotMatch(told, /released|norm/);
  assert.match(told, /"epsilon"/);
  assert.equal(await hash(), chosen);
}

test("a host that is not named gets nothing, with headers and without", async (t) => {
  const plain = await host(t, path.join(dir, "site"), "/");
  for (const [site, from, runs] of /** @type {[string, string, boolean][]} */ ([
    [server.url, other, false], [plain.origin + "/", other, false], [plain.origin + "/", named, true],
  ])) {
    const page = await embedded(t, site, from);
    if (runs) {
      assert.match(await page.inside.evaluate(() => clipscopeEarly.stays.then(() => clipscopeEarly.alone())), /shown within another one/);
      await eventually(async () => assert.match(await page.inside.locator(".framed").innerText(), new RegExp(`^Shown by ${named}\\.`)));
      assert.equal(plain.pages.length, 2); // one for each, and none again for threads
      continue;
    }
    if (site === server.url) await page.inside.waitForURL("chrome-error://**");
    else await page.inside.waitForFunction(() => document.documentElement.textContent.includes("does not run inside this page"));
    // What the frame says after it has heard the question comes after an answer to that.
    await page.inside.evaluate(() => { addEventListener("message", () => setTimeout(() => parent.postMessage({ type: "heard" }, "*"))); });
    await page.evaluate(() => document.querySelector("iframe").contentWindow.postMessage({ clipscope: 1, type: "state", id: 1 }, "*"));
    await page.said("heard");
    assert.deepEqual(await page.evaluate(() => window["told"].map((m) => m.type)), ["heard"], `${site} in ${from}`);
  }
});

test("a page around that is named starts a run and is told of it, and another is not, Firefox", { skip: missing }, async (t) => {
  const plain = await host(t, path.join(dir, "site"), "/"), sites = [server.url, plain.origin + "/"];
  for (const site of sites) {
    const page = await (await firefox()).page(`${other}/?site=${encodeURIComponent(site + "?embed")}`, t);
    await page.waitForFunction(() => document.readyState === "complete"); // and so is the frame
    await page.evaluate(() => document.querySelector("iframe").contentWindow.postMessage({ clipscope: 1, type: "state", id: 1 }, "*"));
    await page.waitForTimeout(500); // an answer takes a few milliseconds, and no pause fails a frame that gives none
    assert.deepEqual(await page.evaluate(() => window["told"]), [], site);
  }
  for (const site of sites) {
    const page = await (await firefox()).page(`${named}/?site=${encodeURIComponent(site + "?embed")}`, t);
    await page.waitForFunction(() => window["told"]?.some((/** @type {any} */ m) => m.type === "done"));
    const [ready, done] = await page.evaluate(() => ["ready", "done"].map((type) => window["told"].find((/** @type {any} */ m) => m.type === type)));
    assert.equal(ready.origin, new URL(site).origin);
    assert.deepEqual([done.step, done.steps], [40, 40]);
    assert.ok(done.epsilon > 0 && done.epsilon <= 2, String(done.epsilon));
    assert.deepEqual(page.errors, []);
  }
});
