// The site as hosts serve it: nothing is asked of the network after it has
// loaded, nothing can leave, and it works offline and under any path.
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import zlib from "node:zlib";
import { controlled, counted, eventually, gate, host, listening, narrow, open, pages, ready, results, root, serve, stage, train, wide } from "./browser.mjs";

const { server, visit, alone } = await stage();

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

// served is where a server of the test's own listens until the test has ended.
/** @param {any} t @param {http.Server} server */
async function served(t, server) {
  const { origin, close } = await listening(server);
  t.after(close);
  return origin;
}

// elsewhere is a site of another origin, whose start page is this; it counts what it
// is asked.
async function elsewhere(t, html) {
  const asked = [];
  const origin = await served(t, http.createServer((req, res) => {
    asked.push(req.url);
    res.writeHead(200, { "Content-Type": "text/html" }).end(html);
  }));
  return { url: origin + "/", asked };
}

test("the page does not run in the frame of another site, with headers or without", async (t) => {
  const plain = await host(t, path.join(root, "dist"), "/");
  for (const [url, at, say] of [[server.url, "chrome-error:", ""], [plain.origin + "/", "http:", "Clipscope does not run inside this page."]]) {
    const page = await (await alone(t, { serviceWorkers: "allow" })).newPage();
    await page.goto((await elsewhere(t, `<iframe src="${url}"></iframe>`)).url);
    const frame = await eventually(() => {
      assert.equal(page.frames().length, 2);
      return page.frames()[1];
    });
    await frame.waitForFunction((say) => document.documentElement.textContent.includes(say), say);
    assert.equal(new URL(frame.url()).protocol, at);
    assert.equal(await frame.evaluate(() => typeof window.clipscope), "undefined");
    assert.equal(await frame.locator("main").count(), 0);
  }
  assert.ok(plain.asked.includes("/web/guard.js") && !plain.asked.includes("/web/app.wasm"), plain.asked.join(" "));
});

test("a person may follow a link to another site that the page came with, a script may not, nor add one", async (t) => {
  const other = await elsewhere(t, "there");
  const page = await (await alone(t, { serviceWorkers: "block" })).newPage();
  await page.route(server.url, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: (await response.text()).replace(/<body[^>]*>/, `$&<a id="out" href="${other.url}person">out</a>`) });
  });
  await page.goto(server.url);
  await ready(page); // go-app, too, hears of a click
  const added = await page.evaluate((url) => {
    location.href = url + "script";
    try { return document.body.appendChild(Object.assign(document.createElement("a"), { href: url + "added" })).href; } catch { return ""; }
  }, other.url);
  assert.equal(added, "");
  await page.focus("#out");
  await page.keyboard.press("Enter");
  await page.waitForURL(other.url + "person");
  assert.deepEqual(other.asked.filter((u) => u !== "/favicon.ico"), ["/person"]);
});

test("nothing is requested after the page has loaded", async (t) => {
  const site = await host(t, path.join(root, "dist"), "/");
  const context = await alone(t, { serviceWorkers: "allow" });
  const page = await open(context, site.origin + "/");
  await controlled(page);
  const before = site.asked.length;
  assert.ok(before > 0);
  await train(page, quick);
  await page.evaluate(async () => { (await clipscope.open("moons")).close(); });
  // But by the browser itself, some time after a load, whether there is a newer service worker.
  assert.deepEqual(site.asked.slice(before).filter((name) => name !== "/app-worker.js"), []);
});

test("it starts and trains offline, at its links too", async (t) => {
  const site = await host(t, path.join(root, "dist"), "/");
  const context = await alone(t, { serviceWorkers: "allow" });
  const page = await open(context, site.origin + "/");
  await controlled(page);
  await site.close();
  for (const url of ["/", "/help", "/?from=elsewhere#seed=1"]) {
    await page.goto(site.origin + url);
    await ready(page);
    const { result } = await train(page, { ...quick, steps: 2 });
    assert.equal(result.steps, 2, url);
  }
});

// built returns the folder of the site for a sub-path, which the first test that asks builds
// and no test writes to. It is packed less than a host's would be: that takes a minute.
/** @type {Map<string, string>} */
const sites = new Map();
after(() => { for (const dir of sites.values()) fs.rmSync(dir, { recursive: true }); });
/** @param {string} prefix */
function built(prefix) {
  let dir = sites.get(prefix);
  if (!dir) {
    dir = fs.mkdtempSync(path.join(os.tmpdir(), "clipscope-"));
    sites.set(prefix, dir);
    execFileSync("make", ["--silent", "site", `PREFIX=${prefix}`, `OUT=${dir}/site`, "BROTLI=5"], { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
  }
  return `${dir}/site`;
}

test("a site for a sub-path works on a host without headers, offline too", async (t) => {
  const site = await host(t, built("/some/repo"), "/some/repo");
  const context = await alone(t, { serviceWorkers: "allow" });
  const page = await open(context, site.origin + "/some/repo/");
  assert.ok(site.asked.every((p) => p.startsWith("/some/repo/") || p === "/favicon.ico"), site.asked.join(" "));
  const manifest = await (await fetch(site.origin + "/some/repo/manifest.webmanifest")).json();
  assert.equal(manifest.scope, "/some/repo/");
  await controlled(page);
  await train(page, { ...quick, steps: 2 });
  const blocked = await page.evaluate(() => fetch("http://127.0.0.2:9/").then(() => false, () => true));
  assert.ok(blocked, "the policy holds on a host that sends none");
  assert.equal(await page.evaluate(() => fetch("help").then((r) => r.headers.get("Content-Security-Policy"))), (await fetch(server.url)).headers.get("Content-Security-Policy"));
  await site.close();
  for (const url of ["/some/repo/", "/some/repo/help"]) {
    await page.goto(site.origin + url);
    await ready(page);
    assert.equal((await train(page, { ...quick, steps: 2 })).result.steps, 2, url);
  }
});

test("what verify.html says to do finds nothing where all is as released, on a host that leaves out .html", async (t) => {
  const dir = temporary(t), dist = path.join(root, "dist");
  const names = fs.readdirSync(dist, { recursive: true }).map(String).filter((f) => !/\.(br|gz)$/.test(f) && fs.statSync(path.join(dist, f)).isFile());
  const sums = names.map((name) => `${createHash("sha256").update(fs.readFileSync(path.join(dist, name))).digest("hex")}  ${name}`);
  const clean = http.createServer((req, res) => {
    const [name] = (req.url ?? "").split("?");
    if (name.endsWith(".html")) return res.writeHead(307, { Location: name.replace(/(index)?\.html$/, "") }).end();
    const found = [name, name + "index.html", name + ".html"].map((f) => path.join(dist, f)).find((f) => fs.statSync(f, { throwIfNoEntry: false })?.isFile());
    res.writeHead(found ? 200 : 404, { "Content-Type": /\.wasm$/.test(name) ? "application/wasm" : /\.m?js$/.test(name) ? "text/javascript" : /\.css$/.test(name) ? "text/css" : "text/html" });
    res.end(found && fs.readFileSync(found));
  });
  const origin = await served(t, clean);
  const context = await alone(t, { serviceWorkers: "allow" });
  const page = await open(context, origin + "/");
  await controlled(page);
  await page.evaluate(async () => { await (await caches.open("another site's")).put("/web/app.wasm", new Response("its own")); });
  await page.goto(origin + "/verify.html");
  const [lines, script] = await page.locator("main pre").allInnerTexts();
  fs.writeFileSync(path.join(dir, lines.match(/< (\S+)$/)?.[1] ?? ""), sums.join("\n") + "\n");
  const { stdout, stderr } = await promisify(execFile)("bash", ["-c", lines.replace("https://example.org", origin)], { cwd: dir });
  assert.deepEqual([stdout, stderr], ["", ""]);
  const said = [];
  page.on("console", (/** @type {any} */ m) => said.push(m.text()));
  const devtools = await context.newCDPSession(page); // the console is under no policy
  for (const expression of [script, "console.log('done')"]) await devtools.send("Runtime.evaluate", { expression, replMode: true, awaitPromise: true });
  await eventually(() => assert.equal(said.at(-1), "done"));
  said.pop();
  const kept = said.map((line) => line.replace(" /", "  ").replace(/ $|\/$/, (end) => end + "index.html"));
  assert.ok(kept.length > 30, String(kept.length));
  assert.deepEqual(kept.filter((line) => !sums.includes(line)), []);
});

test("every file that the page is told to keep exists", async () => {
  const worker = await (await fetch(server.url + "app-worker.js")).text();
  const list = JSON.parse(worker.match(/RESOURCES = (\[.*?\])/)[1]);
  assert.ok(["/web/app.wasm", "/web/kernels-relaxed.wasm", ...pages.filter((name) => name && name !== "stories").map((name) => `/${name}/`)].every((name) => list.includes(name)));
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
  const first = await get("web/page.js");
  const etag = first.headers.get("etag");
  assert.equal((await get("web/page.js", { "If-None-Match": etag })).status, 304);
  fs.appendFileSync(path.join(dir, "web/page.js"), "\n// changed\n");
  const second = await get("web/page.js", { "If-None-Match": etag });
  assert.equal(second.status, 200);
  assert.match(await second.text(), /changed/);
});

test("a second visit asks for nothing but the version", async (t) => {
  const way = await counted(server.url);
  t.after(way.close);
  const context = await alone(t, { serviceWorkers: "allow" });
  const page = await open(context, way.url);
  await controlled(page);
  await page.close();
  const before = way.bytes();
  await context.addInitScript(() => {
    const counting = self.TransformStream;
    self.TransformStream = class extends counting { constructor(...of) { super(...of); globalThis.counted = true; } };
  });
  const again = await open(context, way.url);
  assert.equal(await again.evaluate(() => globalThis.counted), undefined, "the bytes that the service worker has are counted");
  await train(again, { ...quick, steps: 2 });
  await again.evaluate(async () => { await (await navigator.serviceWorker.ready).update(); });
  const bytes = way.bytes() - before;
  t.diagnostic(`${bytes} bytes`);
  assert.ok(bytes > 0 && bytes <= 4000, `${bytes} bytes: headers of a few answers, without what they are about`);
  // A host without headers and tags sends the service worker's script, and no more.
  const site = await host(t, path.join(root, "dist"), "/");
  await controlled(await open(context, site.origin));
  site.asked.length = 0;
  await train(await open(context, site.origin), { ...quick, steps: 2 });
  assert.deepEqual([...new Set(site.asked)].filter((name) => name !== "/app-worker.js"), []);
});

test("the terms of what the site is made of go with it", async (t) => {
  const page = await visit(t, "help");
  const [terms] = await Promise.all([page.waitForEvent("download"), page.click("#licences-link")]);
  const text = fs.readFileSync(await terms.path(), "utf8");
  for (const name of ["Clipscope", "github.com/maxence-charriere/go-app/v10", "gonum.org/v1/gonum", "github.com/google/uuid", "go1.", "uplot", "assemblyscript", "Permission is hereby granted", "Redistribution and use"]) {
    assert.ok(text.includes(name), name);
  }
  assert.deepEqual(page.errors, []);
});

// What a visitor sees and fetches, the first time.

test("a first visit is 3.5 MB at most, with all that is kept for offline use", async (t) => {
  const way = await counted(server.url);
  t.after(way.close);
  const context = await alone(t, { serviceWorkers: "allow" });
  const page = await open(context, way.url);
  const first = way.bytes();
  await controlled(page);
  t.diagnostic(`${first} bytes until the trainer answers, ${way.bytes()} until the page can do without a network`);
  assert.ok(first > 1e6 && way.bytes() <= 3.5e6, `${way.bytes()} bytes`);
  // Of the kernels it keeps those that the browser uses.
  const kernels = await page.evaluate(async () => (await Promise.all((await caches.keys()).map(async (name) => (await (await caches.open(name)).keys()).map((r) => r.url.split("/").at(-1))))).flat().filter((f) => f.startsWith("kernels")).sort());
  assert.deepEqual(kernels, ["kernels-relaxed-threads.wasm", "kernels-relaxed.wasm"]);
});

// slowly opens a page whose program does not arrive before proceed is called.
async function slowly(t, where) {
  const context = await alone(t, { serviceWorkers: "block", colorScheme: "light" });
  const program = gate();
  await context.route("**/app.wasm", async (route) => {
    await program.opened;
    await route.continue();
  });
  await context.addInitScript(() => localStorage.setItem("clipscope-theme", "dark"));
  const page = await context.newPage();
  await page.goto(server.url + where, { waitUntil: "commit" });
  await page.waitForFunction(() => document.readyState === "interactive" || document.readyState === "complete");
  return { page, proceed: program.open };
}

test("a guide has the theme that was chosen", async (t) => {
  const { page } = await slowly(t, "guides/methods/");
  assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme), "dark");
});

for (const [where, heading] of [["", "Clipping frequency"], ["calculator", "Privacy calculator"], ["help", "Reading a private run"]]) {
  test(`/${where} is there before its program, and nothing on it looks alive that is not`, async (t) => {
    const { page, proceed } = await slowly(t, where);
    const seen = await eventually(async () => {
      const seen = await page.evaluate((heading) => {
        const h = [...document.querySelectorAll("h1, h2, h3")].find((h) => h.textContent.includes(heading));
        const r = h.getBoundingClientRect(), top = document.elementFromPoint(r.x + 4, r.y + r.height / 2);
        return { drawn: h === top || h.contains(top), alive: [...document.querySelectorAll("button, input, select, textarea")].filter((e) => !e.matches(":disabled, [type=file]")).map((e) => `${e.tagName} ${e.id} ${e.className}`) };
      }, heading);
      assert.ok(seen.drawn, "something covers the page");
      return seen;
    });
    assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme), "dark", "the theme that was chosen");
    assert.deepEqual(seen.alive, []);
    await page.locator("#loading .word").waitFor();
    await page.locator("#loading progress").waitFor();
    // What is read meanwhile stays unfolded.
    const unfold = page.locator("summary:visible").first(), some = await unfold.count() > 0;
    if (some) await unfold.click();
    const far = await page.evaluate(() => { scrollTo(0, 300); return scrollY; });
    proceed();
    await page.locator("#loading").waitFor({ state: "hidden" });
    assert.equal(await page.evaluate(() => scrollY), far, "it has scrolled by itself");
    if (some) assert.equal(await page.evaluate(() => document.querySelectorAll("details[open]").length), 1);
    await eventually(async () => assert.ok(await page.locator("header button").first().isEnabled()));
  });
}

test("how far it is loaded is said in bytes of what the network carries, on a phone as well", async (t) => {
  const program = fs.readFileSync(path.join(root, "dist/web/app.wasm.br"));
  // Half of the program arrives, and for long nothing more.
  const half = http.createServer(async (req, res) => {
    const answer = await fetch(new URL(req.url, server.url)), type = answer.headers.get("content-type");
    if (!req.url.endsWith("app.wasm")) return res.writeHead(answer.status, { "Content-Type": type }).end(Buffer.from(await answer.arrayBuffer()));
    await answer.body.cancel();
    res.writeHead(200, { "Content-Type": type, "Content-Encoding": "br", "Content-Length": program.length });
    res.write(program.subarray(0, program.length / 2));
  });
  const origin = await served(t, half);
  const narrower = [404, 374, 344].map((width) => [`${width}-dark`, { width, height: 640 }, "dark"]);
  for (const [name, viewport, colorScheme] of /** @type {any[]} */ ([["wide-light", wide, "light"], ["narrow-dark", narrow, "dark"], ...narrower])) {
    const page = await (await alone(t, { viewport, colorScheme, serviceWorkers: "block" })).newPage();
    await page.goto(origin);
    await eventually(async () => {
      const { size, share, text, tabs } = await page.evaluate(() => {
        const [size, line, nav] = ["#loading .size", "#loading progress", "header nav"].map((selector) => /** @type {any} */ (document.querySelector(selector)));
        return { size: size.innerText, share: line.value, text: size.getBoundingClientRect().x, tabs: nav.getBoundingClientRect().right };
      });
      const [, loaded, whole] = size.match(/^(\d\.\d) of (\d\.\d) MB$/) ?? [];
      assert.equal(whole, (program.length / 1e6).toFixed(1));
      assert.ok(Number(loaded) > 0 && Number(loaded) < Number(whole), `${loaded} of ${whole}`);
      assert.ok(Math.abs(share * Number(whole) - Number(loaded)) < 0.1, `the line is at ${share}`);
      assert.ok(text > tabs, "it stands on the tabs");
    });
    await page.screenshot({ path: path.join(results, `loading-${name}.png`) });
  }
});

test("a page whose program does not come, or ends, says so", async (t) => {
  const { page, proceed } = await slowly(t, "");
  await page.context().route("**/app.wasm", (route) => route.fulfill({ status: 503 }));
  await page.reload({ waitUntil: "commit" });
  proceed();
  const said = page.locator("#loading[role=alert]");
  await eventually(async () => assert.match(await said.innerText(), /not running: the server answered 503.*Reload the page/));
  await page.context().unroute("**/app.wasm");
  await page.context().route("**/wasm_exec.js", async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: await response.text() + `
      if (globalThis.document) globalThis.Go = class extends globalThis.Go {
        constructor() { super(); globalThis.end = () => { this.exited = true; this._resolveExitPromise(); }; }
      };` });
  });
  await page.reload();
  await ready(page);
  await page.locator("#loading").waitFor({ state: "hidden" });
  await page.evaluate(() => /** @type {any} */ (globalThis).end());
  await eventually(async () => assert.match(await said.innerText(), /not running: its program has ended/));
});

for (const prefix of ["", "/some/repo"]) {
  test(`every page is at its address on the plainest host, ${prefix || "at the root"}`, async (t) => {
    const site = await host(t, prefix ? built(prefix) : path.join(root, "dist"), prefix || "/");
    const seen = await alone(t, { serviceWorkers: "block" });
    for (const [where, heading] of [["/", "Clipscope"], ["/index.html", "Clipscope"], ["/calculator", "Privacy calculator"], ["/calculator/", "Privacy calculator"], ["/calculator/index.html#steps=7", "Privacy calculator"], ["/help", "Reading a private run"], ["/help/", "Reading a private run"]]) {
      const page = await open(seen, site.origin + prefix + where);
      await eventually(async () => {
        assert.match(await page.locator("h1, .brand").allInnerTexts().then((all) => all.join()), new RegExp(heading), where);
        const { pathname, hash } = new URL(page.url());
        assert.equal(pathname, prefix + (where.replace(/(\/|\/index\.html)?(#.*)?$/, "") || "/"), where);
        if (where.includes("#")) assert.match(hash, /steps=7/);
      });
      await page.locator("nav a", { hasText: "Train" }).click();
      await page.locator("#act-start").waitFor();
      assert.deepEqual(page.errors.filter((/** @type {string} */ e) => !/^goapp service worker registration failed/.test(e)), [], where); // which is refused here
      await page.close();
    }
    const context = await alone(t, { serviceWorkers: "allow" });
    const page = await open(context, site.origin + prefix + "/help");
    assert.equal((await page.goto(site.origin + prefix + "/no/such")).status(), 404);
    assert.match(await page.locator("body").innerText(), /There is no such page/);
    await page.click("text=Calculator");
    await ready(page);
    await controlled(page);
    assert.deepEqual(page.errors.filter((/** @type {string} */ e) => /registration failed/.test(e)), []);
    // The service worker knows it no better, with a network and without.
    await page.goto(site.origin + prefix + "/nor/this");
    assert.match(await page.locator("body").innerText(), /There is no such page/);
    await site.close();
    for (const [where, text] of [["/nor/this", /There is no such page/], ["/calculator", /Privacy calculator/], ["/calculator/", /Privacy calculator/], ["/", /Clipping frequency/]]) {
      await page.goto(site.origin + prefix + where);
      await eventually(async () => assert.match(await page.locator("body").innerText(), /** @type {RegExp} */ (text), String(where)));
    }
  });
}

test("what is packed unpacks to what it was, and is packed once", (t) => {
  const kept = temporary(t), pack = path.join(root, "web/compress.mjs");
  const sites = [0, 1].map(() => {
    const dir = temporary(t);
    fs.mkdirSync(`${dir}/web`);
    fs.writeFileSync(`${dir}/web/app.wasm`, "Clipscope ".repeat(5000));
    fs.writeFileSync(`${dir}/index.html`, "<p>".repeat(100));
    for (const name of ["tiny.js", "_headers", ".nojekyll", "icon.png"]) fs.writeFileSync(`${dir}/${name}`, name === "tiny.js" ? "1" : "a".repeat(500));
    execFileSync(process.execPath, [pack, dir, kept, "5"]);
    return dir;
  });
  const list = (dir) => fs.readdirSync(dir, { recursive: true }).map(String).filter((f) => /\.(br|gz)$/.test(f)).sort();
  assert.deepEqual(list(sites[0]), ["index.html.br", "index.html.gz", "web/app.wasm.br", "web/app.wasm.gz"]);
  for (const name of list(sites[0])) {
    const packed = fs.readFileSync(path.join(sites[0], name));
    assert.deepEqual(packed, fs.readFileSync(path.join(sites[1], name)), name);
    const plain = (name.endsWith(".br") ? zlib.brotliDecompressSync : zlib.gunzipSync)(packed);
    assert.deepEqual(plain, fs.readFileSync(path.join(sites[0], name.slice(0, -3))), name);
  }
  // From what is kept, and nothing is kept that is not needed.
  const store = path.join(kept, "5"), before = fs.readdirSync(store);
  for (const name of before) fs.writeFileSync(path.join(store, name), "kept");
  fs.writeFileSync(`${sites[0]}/index.html`, "<b>".repeat(100));
  execFileSync(process.execPath, [pack, sites[0], kept, "5"]);
  assert.equal(fs.readFileSync(`${sites[0]}/web/app.wasm.br`, "utf8"), "kept");
  assert.equal(zlib.brotliDecompressSync(fs.readFileSync(`${sites[0]}/index.html.br`)).toString(), "<b>".repeat(100));
  assert.equal(fs.readdirSync(store).length, before.length);
});
