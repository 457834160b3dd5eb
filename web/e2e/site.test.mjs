// The site as hosts serve it: nothing is asked of the network after it has
// loaded, nothing can leave, and it works offline and under any path.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { open, ready, root, serve, stage, train } from "./browser.mjs";

const { server, browser } = await stage();

const quick = {
  data: "digits", model: { kind: "softmax" }, method: "constant", noise_multiplier: 0.8, max_grad_norm: 1,
  target_delta: 1e-5, expected_batch_size: 256, steps: 10, learning_rate: 0.5, optimizer: "sgd",
};

// temporary makes a folder that goes with the test.
function temporary(t) {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), "clipscope-"));
  t.after(() => fs.rmSync(dir, { recursive: true }));
  return dir;
}

/** @param {http.Server} server */
const portOf = (server) => /** @type {import("node:net").AddressInfo} */ (server.address()).port;

// host is a static host without headers of its own; it counts what it is asked.
async function host(t, dir, prefix) {
  const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".webmanifest": "application/manifest+json", ".svg": "image/svg+xml", ".png": "image/png" };
  const asked = [];
  const srv = http.createServer((req, res) => {
    const url = new URL(req.url, "http://host");
    asked.push(url.pathname);
    if (!url.pathname.startsWith(prefix)) return res.writeHead(404).end();
    if (url.pathname === prefix && prefix !== "/") return res.writeHead(301, { Location: prefix + "/" }).end();
    let name = path.join(dir, url.pathname.slice(prefix.length));
    if (name.endsWith("/") || fs.statSync(name, { throwIfNoEntry: false })?.isDirectory()) name = path.join(name, "index.html");
    if (!fs.existsSync(name) && fs.existsSync(name + ".html")) name += ".html";
    const found = fs.existsSync(name);
    res.writeHead(found ? 200 : 404, { "Content-Type": types[path.extname(name)] ?? "text/plain" });
    res.end(fs.readFileSync(found ? name : path.join(dir, "404.html")));
  });
  await once(srv.listen(0, "127.0.0.1"), "listening");
  const close = () => { srv.closeAllConnections(); return new Promise((resolve) => srv.close(resolve)); };
  t.after(close);
  return { origin: `http://127.0.0.1:${portOf(srv)}`, asked, close };
}

// controlled waits until the service worker serves the page.
const controlled = (page) => page.waitForFunction(() => navigator.serviceWorker.controller !== null);

// elsewhere is a site of another origin, whose start page is this; it counts what it
// is asked.
async function elsewhere(t, html) {
  const asked = [];
  const srv = http.createServer((req, res) => {
    asked.push(req.url);
    res.writeHead(200, { "Content-Type": "text/html" }).end(html);
  });
  await once(srv.listen(0, "127.0.0.1"), "listening");
  t.after(() => { srv.closeAllConnections(); srv.close(); });
  return { url: `http://127.0.0.1:${portOf(srv)}/`, asked };
}

test("the page does not run in the frame of another site, with headers or without", async (t) => {
  const plain = await host(t, path.join(root, "dist"), "/");
  for (const [url, say] of [[server.url, ""], [plain.origin + "/", "Clipscope does not run inside another page."]]) {
    const page = await browser.newPage();
    t.after(() => page.close());
    await page.goto((await elsewhere(t, `<iframe src="${url}"></iframe>`)).url);
    const frame = page.frames()[1];
    await frame.waitForFunction((say) => document.documentElement.textContent.includes(say), say);
    assert.equal(await frame.evaluate(() => typeof window.clipscope), "undefined");
    assert.equal(await frame.locator("main").count(), 0);
  }
  assert.ok(plain.asked.includes("/web/guard.js") && !plain.asked.includes("/web/app.wasm"), plain.asked.join(" "));
});

test("a person may follow a link to another site, a script may not", async (t) => {
  const other = await elsewhere(t, "there");
  const page = await browser.newPage();
  t.after(() => page.close());
  await page.route("**/app.wasm", (route) => route.abort()); // go-app would open a window for it
  await page.goto(server.url);
  await page.evaluate((url) => {
    document.body.prepend(Object.assign(document.createElement("a"), { id: "out", href: url + "person", textContent: "out" }));
    location.href = url + "script";
  }, other.url);
  await page.click("#out");
  await page.waitForURL(other.url + "person");
  assert.deepEqual(other.asked.filter((u) => u !== "/favicon.ico"), ["/person"]);
});

test("nothing is requested after the page has loaded", async (t) => {
  const site = await host(t, path.join(root, "dist"), "/");
  const context = await browser.newContext();
  const page = await open(context, site.origin + "/");
  await controlled(page);
  const before = site.asked.length;
  assert.ok(before > 0);
  await train(page, quick);
  await page.evaluate(async () => { (await clipscope.open("moons")).close(); });
  assert.deepEqual(site.asked.slice(before), []);
  await context.close();
});

test("it starts and trains offline, at its links too", async (t) => {
  const site = await host(t, path.join(root, "dist"), "/");
  const context = await browser.newContext();
  const page = await open(context, site.origin + "/");
  await controlled(page);
  await site.close();
  for (const url of ["/", "/help", "/?from=elsewhere#seed=1"]) {
    await page.goto(site.origin + url);
    await ready(page);
    const { result } = await train(page, { ...quick, steps: 2 });
    assert.equal(result.steps, 2, url);
  }
  await context.close();
});

test("a site for a sub-path works on a host without headers, offline too", async (t) => {
  const dir = temporary(t);
  execFileSync("make", ["--silent", "site", "PREFIX=/some/repo", `OUT=${dir}/site`], { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
  const site = await host(t, `${dir}/site`, "/some/repo");
  const context = await browser.newContext();
  const page = await open(context, site.origin + "/some/repo/");
  assert.ok(site.asked.every((p) => p.startsWith("/some/repo/") || p === "/favicon.ico"), site.asked.join(" "));
  const manifest = await (await fetch(site.origin + "/some/repo/manifest.webmanifest")).json();
  assert.equal(manifest.scope, "/some/repo/");
  await controlled(page);
  await train(page, { ...quick, steps: 2 });
  const blocked = await page.evaluate(() => fetch("http://127.0.0.2:9/").then(() => false, () => true));
  assert.ok(blocked, "the policy in the page holds without the header");
  // From the service worker the page is isolated even on such a host.
  await page.reload();
  await ready(page);
  assert.ok(await page.evaluate(() => crossOriginIsolated), "isolated from the second load on");
  assert.equal(await page.evaluate(() => fetch("help").then((r) => r.headers.get("Content-Security-Policy"))), (await fetch(server.url)).headers.get("Content-Security-Policy"));
  await site.close();
  for (const url of ["/some/repo/", "/some/repo/help"]) {
    await page.goto(site.origin + url);
    await ready(page);
    assert.equal((await train(page, { ...quick, steps: 2 })).result.steps, 2, url);
  }
  await context.close();
});

test("every file that the page is told to keep exists", async () => {
  const worker = await (await fetch(server.url + "app-worker.js")).text();
  const list = JSON.parse(worker.match(/RESOURCES = (\[.*?\])/)[1]);
  assert.ok(list.includes("/web/trainer.wasm") && list.includes("/web/kernels-relaxed.wasm"));
  for (const name of list) {
    assert.equal((await fetch(new URL(name, server.url))).status, 200, name);
  }
});

test("the server answers as a static host does, and sees a rebuild", async (t) => {
  const dir = temporary(t);
  fs.cpSync(path.join(root, "dist"), dir, { recursive: true });
  const own = await serve("-out", dir);
  t.after(() => own.close());
  const get = (name, headers) => fetch(own.url + name, { headers });
  assert.equal((await get("help")).status, 200);
  assert.equal((await get("index.html")).status, 200);
  assert.equal((await get("web/app.wasm", {})).headers.get("content-type"), "application/wasm");
  const missing = await get("no/such/page");
  assert.equal(missing.status, 404);
  assert.match(await missing.text(), /no such page/i);
  assert.equal((await fetch(own.url, { method: "POST", body: "x" })).status, 405);
  assert.equal((await get("..%2f..%2fetc/passwd")).status, 404);
  const first = await get("web/clipscope.js");
  const etag = first.headers.get("etag");
  assert.equal((await get("web/clipscope.js", { "If-None-Match": etag })).status, 304);
  fs.appendFileSync(path.join(dir, "web/clipscope.js"), "\n// changed\n");
  const second = await get("web/clipscope.js", { "If-None-Match": etag });
  assert.equal(second.status, 200);
  assert.match(await second.text(), /changed/);
});

test("a new version replaces the old one at the load after next", async (t) => {
  const dir = temporary(t);
  fs.cpSync(path.join(root, "dist"), dir, { recursive: true });
  const own = await serve("-out", dir);
  t.after(() => own.close());
  const context = await browser.newContext();
  const page = await open(context, own.url);
  await controlled(page);
  const old = await page.evaluate(() => clipscope.version);
  for (const name of ["web/clipscope.js", "app-worker.js"]) {
    const file = path.join(dir, name);
    const text = fs.readFileSync(file, "utf8");
    fs.writeFileSync(file, name === "app-worker.js" ? text.replace(/const CACHE = PREFIX \+ "/, "$&new-") : text.replace(old, "9.9.9+00000000"));
  }
  await page.reload();
  for (let keys = []; !(keys.length === 1 && keys[0].includes("new-")); await page.waitForTimeout(100)) {
    keys = await page.evaluate(() => caches.keys());
  }
  await page.reload();
  await ready(page);
  assert.equal(await page.evaluate(() => clipscope.version), "9.9.9+00000000");
  await context.close();
});

test("the terms of what the site is made of go with it", async () => {
  const context = await browser.newContext();
  const page = await open(context, server.url + "help");
  const [terms] = await Promise.all([page.waitForEvent("download"), page.click("#licences-link")]);
  const text = fs.readFileSync(await terms.path(), "utf8");
  for (const name of ["Clipscope", "github.com/maxence-charriere/go-app/v10", "gonum.org/v1/gonum", "github.com/google/uuid", "go1.", "uplot", "assemblyscript", "Permission is hereby granted", "Redistribution and use"]) {
    assert.ok(text.includes(name), name);
  }
  assert.deepEqual(page.errors, []);
  await context.close();
});
