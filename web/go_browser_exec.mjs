// Runs a Go program for js/wasm in a worker of a headless browser, with the SIMD
// kernels that it has (relaxed, since Chromium 114 and Firefox 145):
//
//	GOOS=js GOARCH=wasm go test -exec "node $PWD/web/go_browser_exec.mjs" ./core/compute/simd
//
// Of files the program can read those in ../shared/reference, where that is present. CLIPSCOPE_BROWSER is chromium (default) or firefox,
// CHROMIUM or FIREFOX the program; CLIPSCOPE_KERNELS and CLIPSCOPE_SIMD are as in go_wasm_exec.mjs.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { basename, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { launch, webgpu } from "./e2e/browser.mjs";
import { launchFirefox } from "./e2e/firefox.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const kernels = process.env.CLIPSCOPE_KERNELS ?? join(here, "../dist/web");
const [program, ...args] = process.argv.slice(2);
if (!program) {
  console.error("usage: go_browser_exec.mjs program.wasm [arguments]");
  process.exit(2);
}
const goroot = execFileSync("go", ["env", "GOROOT"], { encoding: "utf8" }).trim();

// The worker: prints through messages, each a line or {exit: code}.
async function worker(argv, env, kind) {
  const load = (/** @type {string} */ name) => import(name);
  await load("/wasm_exec.js");
  const { kernels } = await load("/kernels.js"), { gpu } = await load("/gpu.js");
  Object.assign(globalThis, { clipscopeWorker: { kernels, gpu } }); // where core/compute looks
  console.log = console.warn = (line) => postMessage(String(line)); // what wasm_exec.js prints with
  const go = new Go();
  go.argv = argv;
  go.env = env;
  readable(globalThis.fs);
  let code = 0;
  go.exit = (c) => { code = c; };
  try {
    await kernels.load((name) => WebAssembly.compileStreaming(fetch("/" + name)), kind);
    const { instance } = await WebAssembly.instantiateStreaming(
      fetch("/program.wasm"), { ...go.importObject, kernels: kernels.imports });
    kernels.attach(instance);
    gpu.attach(instance);
    await go.run(instance);
  } catch (err) {
    postMessage(String(err.stack ?? err));
    code = 2;
  }
  postMessage({ exit: code });
  close(); // with the timers that Go leaves behind
}

// readable has a program read whole files, as the server has them.
/** @param {any} fs of wasm_exec.js, which has none */
function readable(fs) {
  /** @type {Map<number, { bytes: Uint8Array, at: number }>} */
  const open = new Map();
  let next = 100;
  Object.assign(fs, {
    async open(/** @type {string} */ name, /** @type {number} */ _flags, /** @type {number} */ _mode, /** @type {Function} */ done) {
      const response = await fetch("/reference?" + encodeURIComponent(name));
      if (!response.ok) return done(Object.assign(new Error(name), { code: "ENOENT" }));
      open.set(next, { bytes: new Uint8Array(await response.arrayBuffer()), at: 0 });
      done(null, next++);
    },
    fstat(/** @type {number} */ fd, /** @type {Function} */ done) {
      done(null, { dev: 0, ino: 0, mode: 0o100444, nlink: 1, uid: 0, gid: 0, rdev: 0, size: open.get(fd)?.bytes.length, blksize: 4096, blocks: 0, atimeMs: 0, mtimeMs: 0, ctimeMs: 0, isDirectory: () => false });
    },
    read(/** @type {number} */ fd, /** @type {Uint8Array} */ to, /** @type {number} */ offset, /** @type {number} */ length, /** @type {number | null} */ position, /** @type {Function} */ done) {
      const file = /** @type {{ bytes: Uint8Array, at: number }} */ (open.get(fd)), from = position ?? file.at, part = file.bytes.subarray(from, from + length);
      to.set(part, offset);
      if (position === null) file.at += part.length;
      done(null, part.length);
    },
    close(/** @type {number} */ fd, /** @type {Function} */ done) {
      open.delete(fd);
      done(null);
    },
  });
}

const argv = JSON.stringify([basename(program), ...args]);
const kind = JSON.stringify(process.env.CLIPSCOPE_SIMD) ?? "undefined";
const texts = {
  "/": ["text/html", "<!doctype html><title>Go</title>"],
  "/worker.js": ["text/javascript", `${readable} (${worker})(${argv}, {}, ${kind})`],
};
const files = {
  "/wasm_exec.js": ["text/javascript", join(goroot, "lib/wasm/wasm_exec.js")],
  "/kernels.js": ["text/javascript", join(here, "kernels.js")],
  "/gpu.js": ["text/javascript", join(here, "gpu.js")],
  "/program.wasm": ["application/wasm", program],
  ...Object.fromEntries(["kernels", "kernels-threads", "kernels-relaxed", "kernels-relaxed-threads"]
    .map((name) => [`/${name}.wasm`, ["application/wasm", join(kernels, `${name}.wasm`)]])),
};
// reference is a file of ../shared/reference, which a program names from its folder.
/** @param {string} url */
async function reference(url) {
  const [at, name] = url.split("?"), folder = join(here, "../../shared/reference/");
  if (at !== "/reference") return undefined;
  const file = resolve(decodeURIComponent(name));
  return file.startsWith(folder) ? ["application/octet-stream", await readFile(file)] : undefined;
}

const server = createServer(async (request, response) => {
  try {
    const [type, body] = texts[request.url] ?? await reference(request.url) ?? [files[request.url][0], await readFile(files[request.url][1])];
    response.writeHead(200, {
      "Content-Type": type,
      "Cross-Origin-Opener-Policy": "same-origin", // fine timers
      "Cross-Origin-Embedder-Policy": "require-corp",
    });
    response.end(body);
  } catch {
    response.writeHead(404).end();
  }
});
await once(server.listen(0, "127.0.0.1"), "listening");

// lines are what the program has printed since they were last asked for, and its exit code.
const begin = () => {
  const w = new Worker("/worker.js", { type: "module" }), told = { lines: [], exit: null };
  w.onmessage = ({ data }) => { if (typeof data === "string") told.lines.push(data); else told.exit = data.exit; };
  w.onerror = (event) => { told.lines.push(event.message); told.exit = 2; };
  /** @type {any} */ (window).lines = () => ({ lines: told.lines.splice(0), exit: told.exit });
};
const asked = () => /** @type {any} */ (window).lines();

/** @param {string} url @returns {Promise<{ page: any, close: () => Promise<void> }>} */
async function visit(url) {
  if (process.env.CLIPSCOPE_BROWSER === "firefox") {
    const firefox = await launchFirefox(webgpu.firefox);
    return { page: await firefox.page(url), close: () => firefox.close() };
  }
  const browser = await launch(...webgpu.chromium);
  const page = await browser.newPage();
  await page.goto(url);
  return { page, close: () => browser.close() };
}

const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
const { page, close } = await visit(`http://127.0.0.1:${port}/`);
try {
  await page.waitForFunction(() => document.readyState === "complete");
  await page.evaluate(begin);
  for (let exit = null; exit === null; await sleep(50)) {
    const told = await page.evaluate(asked);
    for (const line of told.lines) console.log(line);
    exit = told.exit;
    process.exitCode = exit;
  }
} finally {
  await close();
  server.close();
}
