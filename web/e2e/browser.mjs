// What the end-to-end tests share: a server of its own for each test file, real
// headless Chromium, and pages that complain.
import assert from "node:assert/strict";
import { spawn, execFileSync } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import http from "node:http";
import net from "node:net";
import path from "node:path";
import { after } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import zlib from "node:zlib";
import { chromium } from "playwright-core";
import { bundle } from "../bundle.mjs";

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
export const results = path.join(root, "web/e2e/results");
fs.mkdirSync(results, { recursive: true });

// shared is the optional folder of public data sets beside the repository.
export const shared = process.env.CLIPSCOPE_SHARED ?? path.resolve(root, "../shared");
export const hasShared = (...names) => fs.existsSync(path.join(shared, ...names));

// rebundled returns a bundle of the built site's version, made anew of sources that are changed.
/** @param {string} name @param {Record<string, (text: string) => string>} changes by the names of sources */
export async function rebundled(name, changes) {
  const [version] = /** @type {RegExpMatchArray} */ (fs.readFileSync(path.join(root, "dist/web/page.js"), "utf8").match(/\d+\.\d+\.\d+\+[0-9a-f]{8}/));
  const { text } = await bundle(name, Object.fromEntries(Object.entries(changes).map(([source, change]) => [source, (before) => {
    const changed = change(before);
    assert.notEqual(changed, before, `${source} has nothing to change`);
    return changed;
  }])));
  return text.replaceAll("__VERSION__", version);
}

// pages lists the pages of the program, as the built site has them, by their addresses: "" is the
// first.
export const pages = fs.existsSync(path.join(root, "dist")) ? ["", ...fs.readdirSync(path.join(root, "dist")).sort()].filter((name) => {
  const file = path.join(root, "dist", name, "index.html");
  return fs.existsSync(file) && fs.readFileSync(file, "utf8").includes("/web/page.js");
}) : [];

// STILL is a page that works nothing out and draws nothing by itself: for tests of the
// scripting API, which is on every page.
export const STILL = "help";

export const wide = { width: 1280, height: 800 }, narrow = { width: 390, height: 844 };

// LATER has functions of WebAssembly compiled well when they have run some thirty times as
// long as in a person's browser, and memory tidied by the thread that uses it: of what a page
// that is soon left was given, a fifth of the time went into that. What is measured runs in
// a person's browser: launch's, or a stage's with "--js-flags=".
const LATER = "--js-flags=--wasm-tiering-budget=400000000,--single-threaded-gc";

// stage is what the tests of a file play on, until the last of them has ended: a
// server, a browser, and visit, which opens a page of its own for one test; shared opens
// one for those that only read, or leave it as they find it; alone makes a context that no
// other test has.
// The browser is Chromium without its windows where there is that, the same engine in which
// a visit takes a fifth less; a stage with flags has a person's.
/** @param {string[]} flags of the browser */
export async function stage(...flags) {
  const browser = await launched(flags.length > 0 ? chromiumPath() : shellPath(), LATER, ...flags);
  after(() => browser.close());
  const server = await serve(); // after the browser: where there is none, nothing is left behind
  after(server.close);
  const visitor = visitors(browser);
  // Its context is quiet, as alone's is.
  /** @param {any} t the test @param {string} where in the site @param {any} [options] of its context */
  const visit = async (t, where, options) => open(await visitor(t, { viewport: wide, acceptDownloads: true, ...options }), server.url + where);
  /** @param {any} t @param {import("playwright-core").BrowserContextOptions} [options] */
  async function alone(t, options) {
    const context = await quiet(browser, { viewport: wide, ...options });
    t.after(() => context.close());
    return context;
  }
  /** @param {string} where @returns {() => Promise<any>} the page, opened when it is first asked for */
  function shared(where) {
    /** @type {Promise<any> | undefined} */
    let page;
    const opened = async () => open(await quiet(browser, { viewport: wide, acceptDownloads: true }), server.url + where);
    return () => page ??= opened();
  }
  return { server, browser, visit, shared, alone };
}

// quiet makes a context whose service worker, which would fetch all of the site and keep it,
// never comes where the options say nothing of it.
/** @param {import("playwright-core").Browser} browser @param {import("playwright-core").BrowserContextOptions} options */
async function quiet(browser, options) {
  const context = await browser.newContext(options);
  if (!options.serviceWorkers) await context.addInitScript(() => { if (navigator.serviceWorker) navigator.serviceWorker.register = () => new Promise(() => {}); });
  return context;
}

// visitors gives each test a context of its own: one of an earlier test with the same
// options, whose pages are closed and which has forgotten all but what the browser keeps of
// the network's; a test that takes its clock, or has a script run in all its pages, makes one
// for itself. To make one, and to compile the program anew, is a quarter of what a visit costs.
/** @param {import("playwright-core").Browser} browser */
function visitors(browser) {
  /** @type {Map<string, { context: import("playwright-core").BrowserContext, forget: () => Promise<void> }[]>} */
  const idle = new Map();
  /** @param {import("playwright-core").BrowserContextOptions} options */
  async function fresh(options) {
    const context = await quiet(browser, options), keeper = await context.newPage(), session = await context.newCDPSession(keeper);
    const forget = async () => {
      await endRoutes(context);
      await Promise.all(context.pages().filter((page) => page !== keeper).map((page) => page.close()));
      await context.setOffline(false);
      await session.send("Storage.clearDataForOrigin", { origin: "*", storageTypes: "all" });
    };
    return { context, forget };
  }
  /** @param {any} t the test @param {import("playwright-core").BrowserContextOptions} options @returns {Promise<import("playwright-core").BrowserContext>} */
  return async (t, options) => {
    const key = JSON.stringify(options), others = idle.get(key) ?? [];
    idle.set(key, others);
    const visitor = others.pop() ?? await fresh(options);
    t.after(async () => {
      await visitor.forget();
      others.push(visitor);
    });
    return visitor.context;
  };
}

// bound has a child end with this process, however that ends: what outlived it would
// keep whoever waits for its output waiting. The runner ends a file that takes too long
// by a signal, at which the driver's browsers end as well.
/** @type {Set<import("node:child_process").ChildProcess>} */
const children = new Set();
const end = () => { for (const child of children) child.kill("SIGKILL"); };
process.on("exit", end);
process.on("uncaughtExceptionMonitor", end); // a file that throws outside its tests ends without "exit"
process.once("SIGTERM", () => process.exit(143));

/** @template {import("node:child_process").ChildProcess} C @param {C} child @returns {C} */
export function bound(child) {
  children.add(child);
  child.once("exit", () => children.delete(child));
  return child;
}

// serve starts the built server on a free loopback port and resolves with its
// address and a function that ends it and waits for its end.
/** @param {string[]} args @returns {Promise<{ url: string, close(): Promise<unknown> }>} */
export function serve(...args) {
  return new Promise((resolve, reject) => {
    const server = bound(spawn(path.join(root, "bin/clipscope"), ["-out", path.join(root, "dist"), "-addr", "127.0.0.1:0", ...args],
      { stdio: ["ignore", "pipe", "inherit"] }));
    const ended = new Promise((gone) => server.once("exit", gone));
    server.once("error", reject);
    server.once("exit", (code) => reject(new Error(`the server ended with code ${code}`)));
    let said = "";
    server.stdout.on("data", (chunk) => {
      said += chunk;
      const m = said.match(/http:\/\/\S+\//);
      if (m) resolve({ url: m[0], close: () => { server.kill(); return ended; } });
    });
  });
}

// host is the plainest of static hosts: without headers of its own, a folder is at
// its address with a slash, and nothing is x.html but x.html. It lists what it is
// asked, and in pages which of that is for a window to show. What instead answers for
// a path, now or later, is what it sends for that.
/** @param {any} t @param {string} dir @param {string} prefix @param {(path: string) => Promise<string | undefined>} [instead] */
export async function host(t, dir, prefix, instead) {
  const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".webmanifest": "application/manifest+json", ".svg": "image/svg+xml", ".png": "image/png" };
  const asked = [], pages = [];
  const srv = http.createServer(async (req, res) => {
    const url = new URL(req.url, "http://host");
    asked.push(url.pathname);
    if (req.headers.accept?.startsWith("text/html")) pages.push(url.pathname);
    if (!url.pathname.startsWith(prefix)) return res.writeHead(404).end();
    let name = path.join(dir, url.pathname.slice(prefix.length));
    if (fs.statSync(name, { throwIfNoEntry: false })?.isDirectory()) {
      if (!url.pathname.endsWith("/")) return res.writeHead(301, { Location: url.pathname + "/" }).end();
      name = path.join(name, "index.html");
    }
    const other = await instead?.(url.pathname.slice(prefix.length));
    const missing = other === undefined && !fs.existsSync(name);
    if (missing) name = path.join(dir, "404.html");
    res.writeHead(missing ? 404 : 200, { "Content-Type": types[path.extname(name) || ".html"] ?? "text/plain" });
    res.end(other ?? fs.readFileSync(name));
  });
  const { origin, close } = await listening(srv);
  t.after(close);
  return { origin, asked, pages, close };
}

// listening starts an HTTP server on a free loopback port. Its close ends what is under way
// as well, and may be called twice.
/** @param {http.Server} server */
export async function listening(server) {
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = /** @type {net.AddressInfo} */ (server.address());
  const close = () => { server.closeAllConnections(); return new Promise((resolve) => server.close(resolve)); };
  return { origin: `http://127.0.0.1:${port}`, close };
}

// webgpu is what has each browser give a GPU that is a program, where it would give none.
export const webgpu = {
  chromium: ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"],
  firefox: { "dom.webgpu.enabled": true, "gfx.webgpu.ignore-blocklist": true },
};

// gate is what something waits for until it is opened.
export function gate() {
  let open = () => {};
  const opened = new Promise((resolve) => { open = () => resolve(undefined); });
  return { opened, open };
}

// eventually repeats an assertion until it holds, and fails as it failed last when patience
// ends. It is for all that a page becomes by itself: whatever else was waited for, the page may
// be about to change once more. It returns what the assertion returned.
/** @template T @param {() => T | Promise<T>} assertion @returns {Promise<T>} */
export async function eventually(assertion) {
  for (const end = Date.now() + PATIENCE; ; await sleep(PULSE)) {
    try {
      return await assertion();
    } catch (e) {
      if (Date.now() >= end || isClosed(e)) throw e;
    }
  }
}

// until waits until an asynchronous function is true in the page, or in the page that
// comes after it.
/** @param {any} page @param {() => Promise<unknown>} f */
export const until = (page, f) => eventually(async () => assert.ok(await page.evaluate(f), `never: ${f}`));

// leavable waits until nothing would be lost by leaving the page. A run that has ended is in the list of runs before it is stored.
/** @param {any} page */
export const leavable = (page) => until(page, async () => dispatchEvent(new Event("beforeunload", { cancelable: true })));

// start presses the button that starts a run once it is on: until then a press does nothing.
/** @param {any} page */
export const start = (page) => page.locator("#act-start[aria-disabled=false]").click();

// frames waits until the page has drawn itself so often: what was to move by then has begun to.
// It is for what is not to happen, where nothing tells that it could have.
/** @param {any} page @param {number} n */
export const frames = (page, n) => page.evaluate(async (n) => { for (let i = 0; i < n; i++) await new Promise(requestAnimationFrame); }, n);

// controlled waits until the service worker serves the page and keeps all that it
// may come to need.
/** @param {any} page */
export const controlled = (page) => until(page, async () => {
  if (!navigator.serviceWorker.controller) return false;
  return Boolean(await caches.match(new URL("?whole", (await navigator.serviceWorker.ready).scope)));
});

// counted is a way to a server that counts every byte that comes back, whoever in
// the browser asked.
/** @param {string} url @returns {Promise<{ url: string, bytes(): number, close(): Promise<unknown> }>} */
export async function counted(url) {
  const { hostname, port } = new URL(url), /** @type {Set<net.Socket>} */ open = new Set();
  let bytes = 0;
  const way = net.createServer((near) => {
    const far = net.connect(Number(port), hostname);
    for (const end of [near, far]) open.add(end.once("close", () => open.delete(end)));
    far.on("data", (b) => { bytes += b.length; });
    for (const end of [near, far]) end.on("error", () => { near.destroy(); far.destroy(); });
    near.pipe(far).pipe(near);
  });
  await once(way.listen(0, "127.0.0.1"), "listening");
  const at = /** @type {net.AddressInfo} */ (way.address());
  const close = () => {
    for (const end of open) end.destroy();
    return new Promise((resolve) => way.close(resolve));
  };
  return { url: `http://127.0.0.1:${at.port}/`, bytes: () => bytes, close };
}

// PATIENCE is how many milliseconds a page may take to become as a test wants it: on a
// busy machine more than the half minute that the driver gives.
export const PATIENCE = 120_000;

/** @param {string[]} more */
export const launch = (...more) => launched(chromiumPath(), ...more);

/** @param {string} executablePath @param {string[]} more */
async function launched(executablePath, ...more) {
  const browser = await chromium.launch({ executablePath, args: switches(more) }), fresh = browser.newContext.bind(browser);
  browser.newContext = async (options) => patient(await fresh(options));
  routesFirst(browser, () => Promise.all(browser.contexts().map(endRoutes)));
  return browser;
}

// PULSE is how many milliseconds pass from one question to the next while a page is waited
// for. The driver would ask in every frame, of which a page that changes nothing has none
// otherwise: each takes a millisecond.
export const PULSE = 40;

/** @template {import("playwright-core").BrowserContext} C @param {C} context @returns {C} */
function patient(context) {
  context.setDefaultTimeout(PATIENCE);
  routesFirst(context, () => endRoutes(context));
  context.on("page", (page) => {
    routesFirst(page, () => ended(page));
    const wait = page.waitForFunction.bind(page);
    page.waitForFunction = (f, x, options) => wait(f, x, { polling: PULSE, ...options });
  });
  return context;
}

// What a test opened ends here, routes first: a request that a page still has under way when it
// is closed fails in the callback that answers it, and nobody awaits that callback. That is the
// one rejection that is expected, and it is expected nowhere else.

// routesFirst ends routes whenever a browser, a context or a page is closed.
/** @param {{ close(...options: any[]): Promise<void> }} opened @param {() => Promise<unknown>} end */
function routesFirst(opened, end) {
  const close = opened.close.bind(opened);
  opened.close = async (...options) => {
    await end();
    await close(...options);
  };
}

/** @param {import("playwright-core").BrowserContext} context */
const endRoutes = (context) => Promise.all([ended(context), ...context.pages().map(ended)]);

/** @param {import("playwright-core").BrowserContext | import("playwright-core").Page} routed */
const ended = (routed) => routed.unrouteAll({ behavior: "ignoreErrors" }).catch((e) => { if (!isClosed(e)) throw e; });

// isClosed tells what a driver says of a page, a context or a browser that is gone.
/** @param {unknown} e */
const isClosed = (e) => /(has|have) been closed|Target closed/.test(String(e));

// profiled is a browser with a profile in a folder, as a person's is: it guesses what
// will be asked for, and connects before it is.
/** @param {string} dir @param {string[]} more */
export const profiled = async (dir, ...more) => patient(await chromium.launchPersistentContext(dir, { executablePath: chromiumPath(), args: switches(more) }));

// OFF is what the browser is not to have. Of several such flags it hears the last alone,
// so what the driver takes away stands here, too; and what a window of a person's begins
// with and no test sees: two more pages, with a process and scripts of their own, for what
// is to be shown below the address when one types there.
const OFF = ["AimEnabled", "AvoidCorsURLLoaderRestartOnRedirect", "AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose",
  "HttpsFirstBalancedModeAutoEnable", "HttpsUpgrades", "LensOverlay", "MediaRouter", "NetworkTimeServiceQuerying", "OptimizationHints",
  "PaintHolding", "PreconnectToSearch", "ThirdPartyStoragePartitioning", "WebUIOmniboxAimPopup", "WebUIOmniboxPopup"];

/** @param {string[]} more */
const switches = (more) => ["--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--disable-features=" + OFF, ...more];

// CHROMIUM is a Chromium's path, and all tests' then.
const chromiumPath = () => process.env.CHROMIUM ?? installed("chromium");
const shellPath = () => process.env.CHROMIUM ?? (installed("chromium-headless-shell") || installed("chromium"));

/** @param {string} name @returns {string} where that program is, or nothing */
const installed = (name) => execFileSync("sh", ["-c", `command -v ${name} || true`]).toString().trim();

// open brings up the page with its scripting API ready. What the page reports as
// an error is kept in page.errors, for the test to be empty at its end.
/** @param {any} context @param {string} url @returns {Promise<any>} a playwright-core Page, of which the functions it evaluates are not checked */
export async function open(context, url) {
  const page = await context.newPage();
  page.errors = [];
  page.on("pageerror", (e) => page.errors.push(e.message));
  page.on("console", (m) => { if (m.type() === "error") page.errors.push(m.text()); });
  await page.goto(url);
  await ready(page);
  return page;
}

// ready waits until the trainer answers. On a host without headers the page is loaded
// again before.
/** @param {any} page */
export async function ready(page) {
  await page.waitForFunction(() => window.clipscope?.ready.then(() => true));
}

// train runs to the end and brings back the result, without the parameters, and
// the events that were seen.
/** @param {any} page @param {object} config @param {{ train: object[], test?: object[] }} [files] */
export function train(page, config, files) {
  return page.evaluate(async ([config, files]) => {
    const file = ({ name, base64 }) => new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], name);
    const run = await window.clipscope.train(config, files && { train: files.train.map(file), test: (files.test ?? []).map(file) });
    const events = [];
    run.on((e) => events.push(e));
    const result = await run.done;
    const parameters = result.released.parameters;
    result.released.parameters = undefined;
    return { result, events, parameters: parameters?.length, typed: parameters instanceof Float32Array, finite: parameters?.every(Number.isFinite), plan: run.plan };
  }, [config, files]);
}

// file is a file for train, made of text or bytes.
/** @param {string} name @param {string | Uint8Array} content */
export const file = (name, content) => ({ name, base64: Buffer.from(/** @type {any} */ (content)).toString("base64") });
export const sharedFile = (...names) => file(names.at(-1), fs.readFileSync(path.join(shared, ...names)));

// percent writes a share as the page does: what lies just between two tenths Go
// rounds to the even one, toFixed to the larger.
export function percent(share) {
  const x = 100 * share;
  return (x % 1 === 0.25 ? Math.floor(x) + 0.2 : x).toFixed(1) + " %";
}

// unzip reads an archive as its directory, which stands at its end, has it.
/** @param {Buffer} b @returns {Record<string, Buffer>} */
export function unzip(b) {
  const end = b.lastIndexOf("PK\x05\x06", undefined, "latin1"), files = {};
  for (let at = b.readUInt32LE(end + 16), left = b.readUInt16LE(end + 10); left > 0; left--) {
    assert.equal(b.readUInt32LE(at), 0x02014b50);
    const size = b.readUInt32LE(at + 20), name = b.toString("utf8", at + 46, at + 46 + b.readUInt16LE(at + 28)), from = b.readUInt32LE(at + 42);
    const data = from + 30 + b.readUInt16LE(from + 26) + b.readUInt16LE(from + 28), packed = b.subarray(data, data + size);
    files[name] = b.readUInt16LE(at + 10) === 8 ? zlib.inflateRawSync(packed) : packed;
    at += 46 + b.readUInt16LE(at + 28) + b.readUInt16LE(at + 30) + b.readUInt16LE(at + 32);
  }
  return files;
}
