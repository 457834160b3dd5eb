// A new version of the site, while an old one is open: nothing is lost, and nothing mixed.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { controlled, eventually, gate, host, open, ready, rebundled, root, stage, until } from "./browser.mjs";

const { alone, server } = await stage();

// made is the site, and another version of it, in which one script says so.
const made = fs.mkdtempSync(path.join(os.tmpdir(), "clipscope-"));
after(() => fs.rmSync(made, { recursive: true }));
const versions = ["old", "new"].map((name) => {
  const built = path.join(made, name + "-built"), out = path.join(made, name);
  fs.cpSync(path.join(root, "bin/web"), built, { recursive: true });
  fs.appendFileSync(path.join(built, "page.js"), `\nwindow.which = "${name}";\n`);
  execFileSync("bin/clipscope", ["-generate", "-wasm", built, "-out", out], { cwd: root });
  return out;
});

// deployed is a host of the old version, on which the new one takes its place, as a whole
// or but for one file.
async function deployed(t, instead) {
  const dir = fs.mkdtempSync(path.join(made, "host-"));
  const put = (from, except) => fs.cpSync(from, dir, { recursive: true, force: true, filter: (f) => !except || !f.endsWith(except) });
  put(versions[0]);
  const site = await host(t, dir, "/", instead);
  const context = await alone(t, { serviceWorkers: "allow" }), page = await open(context, site.origin);
  await controlled(page);
  return { site, context, page, renew: (except) => put(versions[1], except) };
}

const bar = (page) => page.locator("aside.update");
const which = (page) => page.evaluate(() => [Object(window).which, clipscope.version].join(" "));
const kept = (page) => page.evaluate(() => caches.keys());
const long = { data: "moons", model: { kind: "softmax" }, noise_multiplier: 1, target_delta: 1e-5, expected_batch_size: 8, steps: 1_000_000, threads: 1 };
const short = { ...long, steps: 5 };
const steps = (page, config) => page.evaluate(async (config) => (await (await clipscope.train(config)).done).steps, config);

test("a new version offers itself, and waits for a run, for another tab, and to be asked", async (t) => {
  const { context, page, renew } = await deployed(t);
  const old = await which(page);
  assert.match(old, /^old /);
  const run = page.evaluate(async (config) => {
    const run = await clipscope.train(config);
    Object.assign(window, { run });
    return (await run.done).steps;
  }, long);
  await until(page, async () => Object(window).run);
  renew();
  await page.evaluate(async () => { await (await navigator.serviceWorker.ready).update(); });
  await bar(page).getByText("A newer version of Clipscope is here").waitFor();
  await bar(page).locator("button").click();
  await bar(page).getByText("A run is under way").waitFor();
  // What is fetched now is of the version that is open.
  assert.equal(await steps(page, short), 5);
  await page.evaluate(() => Object(window).run.stop());
  assert.ok(await run > 0);
  // Loaded again it is what it was, and so is another tab, which keeps the new one waiting.
  await page.reload();
  await ready(page);
  assert.equal(await which(page), old);
  const other = await open(context, page.url());
  assert.equal(await which(other), old);
  const stranger = await context.newPage(); // who is of no version
  await stranger.goto(new URL("another/", page.url()).href);
  await bar(page).locator("button").click();
  await bar(page).getByText("open in another tab").waitFor();
  assert.equal(await which(other), old);
  await other.close();
  await until(page, async () => navigator.serviceWorker.controller?.state === "activated");
  await eventually(async () => assert.equal((await kept(page)).length, 2));
  await bar(page).locator("button").click();
  await until(page, async () => Object(window).which === "new");
  await ready(page);
  const now = await which(page);
  assert.ok(now.startsWith("new ") && now.split(" ")[1] !== old.split(" ")[1], now);
  assert.equal(await steps(page, short), 5);
  await until(page, async () => (await caches.keys()).length === 1);
  await bar(page).waitFor({ state: "detached" });
  assert.deepEqual(page.errors, []);
});

test("a run that begins while a new version is being taken goes on", async (t) => {
  const { page, renew } = await deployed(t);
  renew();
  await page.evaluate(async () => { await (await navigator.serviceWorker.ready).update(); });
  await bar(page).waitFor();
  await page.evaluate((config) => {
    const post = ServiceWorker.prototype.postMessage;
    ServiceWorker.prototype.postMessage = async function (...message) {
      const run = await clipscope.train(config);
      Object.assign(window, { run, at: 0 });
      run.on((/** @type {{ step: number }} */ e) => Object.assign(window, { at: e.step }));
      Reflect.apply(post, this, message);
    };
  }, long);
  await bar(page).locator("button").click();
  await bar(page).getByText("A run is under way").waitFor();
  await until(page, async () => navigator.serviceWorker.controller?.state === "activated" && !(await navigator.serviceWorker.ready).waiting);
  const at = await page.evaluate(() => Object(window).at);
  await page.waitForFunction((at) => Object(window).at > at + 100, at);
  assert.match(await which(page), /^old /);
  await page.evaluate(() => Object(window).run.stop());
  await until(page, async () => Object(window).run.state === "done");
  await bar(page).locator("button").click();
  await until(page, async () => Object(window).which === "new");
  await ready(page);
  assert.equal(await steps(page, short), 5);
  assert.deepEqual(page.errors, []);
});

test("a new version that is there in part is not taken, and one whose worker is ended on the way is taken later", async (t) => {
  const slow = gate();
  let hold = false;
  const { site, context, page, renew } = await deployed(t, async (name) => {
    if (hold && name === "web/save.js") await slow.opened;
    return undefined;
  });
  const old = await which(page);
  const whole = async () => {
    await page.reload();
    await ready(page);
    assert.equal(await which(page), old);
    assert.equal(await steps(page, short), 5);
    assert.equal(await bar(page).count(), 0);
  };
  // The host has all of it but one script.
  renew("web/page.js");
  // The browser looks for itself after a load, and answers whoever asks meanwhile with that look,
  // which may have been before there was another version: so it is asked again.
  const said = await page.evaluate(async () => {
    const r = await navigator.serviceWorker.ready;
    let state = "";
    r.addEventListener("updatefound", () => r.installing?.addEventListener("statechange", (e) => { state ||= Object(e.target).state; }, { once: true }));
    for (; state === ""; await new Promise((resolve) => setTimeout(resolve, 40))) await r.update();
    return state;
  });
  assert.equal(said, "redundant");
  await eventually(async () => assert.equal((await kept(page)).length, 1, "what was fetched of it is gone"));
  await whole();
  // It has all, and the worker ends between two files.
  hold = true;
  renew();
  const asked = site.asked.length;
  await eventually(async () => {
    await page.evaluate(() => { navigator.serviceWorker.ready.then((r) => r.update()).catch(() => {}); });
    assert.ok(site.asked.slice(asked).includes("/web/save.js"));
  });
  const devtools = await context.newCDPSession(page);
  await devtools.send("ServiceWorker.enable");
  await devtools.send("ServiceWorker.stopAllWorkers");
  await whole();
  hold = false;
  slow.open();
  await page.reload();
  await ready(page);
  await bar(page).locator("button").click();
  await until(page, async () => Object(window).which === "new");
  await ready(page);
  await site.close(); // without a network, it is whole
  await page.reload();
  await ready(page);
  assert.match(await which(page), /^new /);
  assert.equal(await steps(page, short), 5);
});

// Where no service worker stands between them, a page may meet another version's workers.
const said = "The page was updated while it was open. Reload it to go on.";
test("a page and workers of two versions do not talk, and say what to do", async (t) => {
  const page = await (await alone(t, { serviceWorkers: "block" })).newPage();
  for (const [what, file, source, change] of /** @type {[string, string, string, (s: string) => string][]} */ ([
    ["an old page, a new worker", "trainer-worker.js", "trainer-worker.js", (s) => s.replace(/VERSION = "[^"]*"/, 'VERSION = "9.9.9+00000000"')],
    ["a page of 0.1.0, a new worker", "page.js", "clipscope.js", (s) => s.replace("version: VERSION, base", "base").replace(" || this.#version !== VERSION", "")],
    ["a new page, a worker of 0.1.0", "trainer-worker.js", "trainer-worker.js", (s) => s.replace(/if \(data\?\.type === "init"\) \{[^]*?\n {2}\}/, 'if (data?.type === "init") prepared = prepare(data);')],
  ])) {
    await page.route(`**/web/${file}`, async (route) => {
      const response = await route.fetch(), changed = await rebundled(file, { [source]: change });
      const { etag: _, ...headers } = response.headers(); // or it would be kept for what it is not
      await route.fulfill({ status: 200, headers: { ...headers, "cache-control": "no-store" }, body: changed });
    });
    await page.goto(server.url);
    await page.waitForFunction(() => window.clipscope);
    assert.equal(await page.evaluate(() => clipscope.ready.catch((e) => e.message)), said, what);
    assert.equal(await page.evaluate((config) => clipscope.train(config).catch((e) => e.message), short), said, what);
    await page.unroute(`**/web/${file}`);
  }
  await page.reload();
  await ready(page);
  assert.equal(await steps(page, short), 5);
});
