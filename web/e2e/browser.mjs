// What the end-to-end tests share: a server of its own for each test file, real
// headless Chromium, and pages that complain.
import { spawn, execFileSync } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
export const results = path.join(root, "web/e2e/results");
fs.mkdirSync(results, { recursive: true });

// shared is the optional folder of public data sets beside the repository.
export const shared = process.env.CLIPSCOPE_SHARED ?? path.resolve(root, "../shared");
export const hasShared = (...names) => fs.existsSync(path.join(shared, ...names));

export const wide = { width: 1280, height: 800 }, narrow = { width: 390, height: 844 };

// stage is what the tests of a file play on, until the last of them has ended: a
// server, a browser, and visit, which opens a page of its own for one test.
/** @param {string[]} flags of the browser */
export async function stage(...flags) {
  const [server, browser] = await Promise.all([serve(), launch(...flags)]);
  after(async () => {
    await browser.close();
    server.close();
  });
  /** @param {any} t the test @param {string} where in the site @param {any} [options] of its context */
  async function visit(t, where, options) {
    const context = await browser.newContext({ viewport: wide, acceptDownloads: true, ...options });
    t.after(() => context.close());
    return open(context, server.url + where);
  }
  return { server, browser, visit };
}

// serve starts the built server on a free loopback port and resolves with its
// address and a function that ends it.
/** @param {string[]} args @returns {Promise<{ url: string, close(): void }>} */
export function serve(...args) {
  return new Promise((resolve, reject) => {
    const server = spawn(path.join(root, "bin/clipscope"), ["-out", path.join(root, "dist"), "-addr", "127.0.0.1:0", ...args],
      { stdio: ["ignore", "pipe", "inherit"] });
    server.once("error", reject);
    server.once("exit", (code) => reject(new Error(`the server ended with code ${code}`)));
    let said = "";
    server.stdout.on("data", (chunk) => {
      said += chunk;
      const m = said.match(/http:\/\/\S+\//);
      if (m) resolve({ url: m[0], close: () => server.kill() });
    });
  });
}

// counted is a way to a server that counts every byte that comes back, whoever in
// the browser asked.
/** @param {string} url @returns {Promise<{ url: string, bytes(): number, close(): void }>} */
export async function counted(url) {
  const { hostname, port } = new URL(url);
  let bytes = 0;
  const way = net.createServer((near) => {
    const far = net.connect(Number(port), hostname);
    far.on("data", (b) => { bytes += b.length; });
    for (const end of [near, far]) end.on("error", () => { near.destroy(); far.destroy(); });
    near.pipe(far).pipe(near);
  });
  await once(way.listen(0, "127.0.0.1"), "listening");
  const at = /** @type {net.AddressInfo} */ (way.address());
  return { url: `http://127.0.0.1:${at.port}/`, bytes: () => bytes, close: () => way.close() };
}

export const launch = (...more) => chromium.launch(found(...more));

// profiled is a browser with a profile in a folder, as a person's is: it guesses what
// will be asked for, and connects before it is.
/** @param {string} dir @param {string[]} more */
export const profiled = (dir, ...more) => chromium.launchPersistentContext(dir, found(...more));

/** @param {string[]} more */
function found(...more) {
  const executablePath = process.env.CHROMIUM ?? execFileSync("sh", ["-c", "command -v chromium"]).toString().trim();
  return {
    executablePath,
    args: ["--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync", ...more],
  };
}

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

/** @param {any} page */
export async function ready(page) {
  await page.waitForFunction(() => !!window.clipscope);
  await page.evaluate(() => window.clipscope.ready);
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
