// Runs a Go program for js/wasm in a worker of headless Chromium, with the SIMD
// kernels that this browser has (relaxed, since Chromium 114):
//
//	GOOS=js GOARCH=wasm go test -exec "node $PWD/web/go_chromium_exec.mjs" ./core/compute/simd
//
// The program has no file system. CHROMIUM names the browser (default chromium);
// CLIPSCOPE_KERNELS and CLIPSCOPE_SIMD are as in go_wasm_exec.mjs.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const here = fileURLToPath(new URL(".", import.meta.url));
const kernels = process.env.CLIPSCOPE_KERNELS ?? join(here, "../dist/web");
const [program, ...args] = process.argv.slice(2);
if (!program) {
  console.error("usage: go_chromium_exec.mjs program.wasm [arguments]");
  process.exit(2);
}
const goroot = execFileSync("go", ["env", "GOROOT"], { encoding: "utf8" }).trim();

// The worker: prints through messages, each a line or {exit: code}.
async function worker(argv, env, kind) {
  /** @type {any} */ (globalThis).importScripts("/wasm_exec.js", "/kernels.js");
  console.log = console.warn = (line) => postMessage(String(line)); // what wasm_exec.js prints with
  const go = new Go();
  go.argv = argv;
  go.env = env;
  let code = 0;
  go.exit = (c) => { code = c; };
  try {
    await clipscopeKernels.load((name) => WebAssembly.compileStreaming(fetch("/" + name)), kind);
    const { instance } = await WebAssembly.instantiateStreaming(
      fetch("/program.wasm"), { ...go.importObject, kernels: clipscopeKernels.imports });
    clipscopeKernels.attach(instance);
    await go.run(instance);
  } catch (err) {
    postMessage(String(err.stack ?? err));
    code = 2;
  }
  postMessage({ exit: code });
  close(); // with the timers that Go leaves behind
}

const argv = JSON.stringify([basename(program), ...args]);
const kind = JSON.stringify(process.env.CLIPSCOPE_SIMD) ?? "undefined";
const texts = {
  "/": ["text/html", "<!doctype html><title>Go</title>"],
  "/worker.js": ["text/javascript", `(${worker})(${argv}, {}, ${kind})`],
};
const files = {
  "/wasm_exec.js": ["text/javascript", join(goroot, "lib/wasm/wasm_exec.js")],
  "/kernels.js": ["text/javascript", join(here, "kernels.js")],
  "/program.wasm": ["application/wasm", program],
  "/kernels.wasm": ["application/wasm", join(kernels, "kernels.wasm")],
  "/kernels-relaxed.wasm": ["application/wasm", join(kernels, "kernels-relaxed.wasm")],
};
const server = createServer(async (request, response) => {
  try {
    const [type, body] = texts[request.url] ?? [files[request.url][0], await readFile(files[request.url][1])];
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

const executablePath = process.env.CHROMIUM ?? execFileSync("sh", ["-c", "command -v chromium"], { encoding: "utf8" }).trim();
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
try {
  const page = await browser.newPage();
  await page.exposeFunction("say", (/** @type {string} */ line) => console.log(line));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  await page.goto(`http://127.0.0.1:${port}/`);
  process.exitCode = await page.evaluate(() => new Promise((resolve) => {
    const { say } = /** @type {any} */ (globalThis);
    const w = new Worker("/worker.js");
    w.onmessage = ({ data }) => (typeof data === "string" ? say(data) : resolve(data.exit));
    w.onerror = (event) => { say(event.message); resolve(2); };
  }));
} finally {
  await browser.close();
  server.close();
}
