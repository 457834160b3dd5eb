// Hostile pages around, beside and behind this one: what they can fetch, show, open and command.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { eventually, host, launch, listening, root, serve } from "./browser.mjs";

// One server is two origins: 127.0.0.1, which the site names, and localhost, which it does not.
const pages = http.createServer((req, res) => {
  const url = new URL(req.url ?? "/", "http://host");
  res.setHeader("Content-Type", "text/html");
  res.end(`<!doctype html>${url.searchParams.getAll("frame").map((src) => `<iframe src="${src}"></iframe>`).join("")}<script>
    window.told = [];
    addEventListener("message", (e) => { told.push(e.data); });
  </script>`);
});
const { origin: named, close } = await listening(pages), hostile = named.replace("127.0.0.1", "localhost");
after(close);

const dir = fs.mkdtempSync(path.join(os.tmpdir(), "clipscope-framed-"));
after(() => fs.rmSync(dir, { recursive: true, force: true }));
execFileSync("bin/clipscope", ["-generate", "-frame-ancestors", named, "-out", path.join(dir, "site")], { cwd: root });
const server = await serve("-out", path.join(dir, "site"), "-frame-ancestors", named), closed = await serve();
after(server.close);
after(closed.close);
const browser = await launch();
after(() => browser.close());

const around = (/** @type {string} */ origin, /** @type {string[]} */ ...frames) => `${origin}/?${new URLSearchParams(frames.map((f) => ["frame", f]))}`;

/** @param {any} t @param {string} url */
async function visit(t, url) {
  const context = await browser.newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  await page.goto(url);
  return page;
}

test("a frame beside this one commands nothing and is told nothing", async (t) => {
  const page = await visit(t, around(named, server.url + "?embed#data=moons&steps=20", hostile + "/"));
  const [inside, beside] = [page.frames().find((f) => f.url().startsWith(server.url)), page.frames().find((f) => f.url().startsWith(hostile))];
  const told = (/** @type {string} */ type) => page.waitForFunction((type) => window["told"].find((/** @type {any} */ m) => m.type === type), type);
  await told("ready");
  const before = await inside.evaluate(() => {
    window["heard"] = 0;
    addEventListener("message", () => { window["heard"]++; });
    return location.hash;
  });
  // As its own window, and as frames that it has made: of its origin, of none, and of another name.
  const sent = await beside.evaluate(async () => {
    const target = () => parent.frames[0], types = ["state", "start", "stop", "pause", "resume", "ready", "plan", "done"];
    const commands = [...types.map((type) => ({ clipscope: 1, type, id: type })), { clipscope: 1, type: "config", id: "c", config: { steps: 3, no_privacy: true } }];
    let sent = 0;
    for (const c of commands) sent = (target().postMessage(c, "*"), sent + 1);
    for (const attributes of [{ src: "about:blank" }, { srcdoc: "" }, { sandbox: "allow-scripts", srcdoc: `<script>for (const c of ${JSON.stringify(commands)}) parent.parent.frames[0].postMessage(c, "*")</script>` }]) {
      const frame = Object.assign(document.createElement("iframe"), attributes);
      if ("sandbox" in attributes) sent += commands.length;
      const loaded = new Promise((resolve) => frame.addEventListener("load", resolve));
      document.body.append(frame);
      await loaded;
      if ("sandbox" in attributes) continue;
      // The source of a message is the window whose function is called.
      frame.contentWindow["eval"](`for (const c of ${JSON.stringify(commands)}) parent.parent.frames[0].postMessage(c, "*")`);
      sent += commands.length;
    }
    return sent;
  });
  assert.equal(sent, 36);
  await inside.waitForFunction((n) => window["heard"] === n, sent);
  await page.evaluate((origin) => document.querySelector("iframe").contentWindow.postMessage({ clipscope: 1, type: "state", id: "last" }, new URL(origin).origin), server.url);
  const state = await (await told("state")).jsonValue();
  assert.deepEqual([state.id, state.phase], ["last", "idle"]);
  assert.equal(await inside.evaluate(() => location.hash), before);
  assert.deepEqual(await beside.evaluate(() => window["told"]), []);
});

test("a page around a named one is a page around, with headers and without", async (t) => {
  const plain = await host(t, path.join(dir, "site"), "/");
  for (const site of [server.url, plain.origin + "/"]) {
    const page = await visit(t, around(hostile, around(named, site + "?embed")));
    await eventually(async () => {
      const inside = page.frames().find((f) => f.parentFrame()?.parentFrame());
      if (site === server.url) assert.match(inside.url(), /^chrome-error:/);
      else assert.match(await inside.evaluate(() => document.documentElement.textContent), /does not run inside this page/);
    });
    assert.deepEqual(await page.frames()[1].evaluate(() => window["told"]), []);
  }
});

test("another site's page loads no file of this one, and holds no window of it", async (t) => {
  const page = await visit(t, hostile + "/");
  const loaded = await page.evaluate(async (site) => {
    const load = (/** @type {string} */ name, /** @type {object} */ attributes) => new Promise((resolve) => {
      const e = Object.assign(document.createElement(name), attributes);
      e.addEventListener("load", () => resolve(true));
      e.addEventListener("error", () => resolve(false));
      document.head.append(e);
    });
    const fetched = (/** @type {string} */ name, /** @type {RequestMode} */ mode) => fetch(site + name, { mode }).then(() => true, () => false);
    return Promise.all([
      ...["", "web/app.wasm", "web/page.js", "web/nothing", "_headers"].flatMap((name) => [fetched(name, "no-cors"), fetched(name, "cors")]),
      load("script", { src: site + "web/page.js" }), load("script", { src: site + "web/predict.mjs", type: "module" }),
      load("link", { href: site + "web/css/clipscope.css", rel: "stylesheet" }), load("img", { src: site + "web/assets/icon.svg" }), load("img", { src: site + "web/assets/icon-192.png" }),
    ]);
  }, closed.url);
  assert.deepEqual(loaded, loaded.map(() => false));
  await page.evaluate((site) => { window["opened"] = window.open(site); }, closed.url);
  await page.waitForFunction(() => window["opened"] === null || window["opened"].closed);
});
