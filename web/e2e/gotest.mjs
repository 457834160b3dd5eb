// Runs a package's Go tests in a browser's worker, where a GPU may be: what
// go_wasm_exec.mjs does in Node.
//
//	node web/e2e/gotest.mjs ./core/compute/webgpu [-test.run …]
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import { launch, root } from "./browser.mjs";

// worker is the script of the worker that the tests run in.
const worker = `
  importScripts("/wasm_exec.js", "/gpu.js");
  onmessage = async ({ data: { args, env } }) => {
    const go = new Go(), decoder = new TextDecoder("utf-8");
    let line = "";
    globalThis.fs.writeSync = (fd, bytes) => {
      line += decoder.decode(bytes, { stream: true });
      for (let end; (end = line.indexOf("\\n")) >= 0; line = line.slice(end + 1)) postMessage({ line: line.slice(0, end) });
      return bytes.length;
    };
    globalThis.fs.write = (fd, bytes, offset, length, position, done) => done(null, globalThis.fs.writeSync(fd, bytes));
    go.argv = args;
    go.env = env;
    let code = 0;
    go.exit = (c) => { code = c; };
    const { instance } = await WebAssembly.instantiateStreaming(fetch("/test.wasm"), go.importObject);
    clipscopeGPU.attach(instance);
    await go.run(instance);
    postMessage({ code });
  };
`;

// goTest builds a package's tests and runs them; it resolves with their exit code.
/** @param {any} browser @param {string} pkg @param {string[]} args @param {(line: string) => void} say */
export async function goTest(browser, pkg, args, say) {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), "clipscope-gotest-"));
  const program = path.join(dir, "test.wasm");
  execFileSync("go", ["test", "-c", "-vet=off", "-o", program, pkg], { cwd: root, env: { ...process.env, GOOS: "js", GOARCH: "wasm" }, stdio: "inherit" });
  const goroot = execFileSync("go", ["env", "GOROOT"], { encoding: "utf8" }).trim();
  /** @type {Record<string, [string, string | Buffer]>} */
  const files = {
    "/": ["text/html", "<!doctype html><title>Go tests</title>"],
    "/worker.js": ["text/javascript", worker],
    "/wasm_exec.js": ["text/javascript", fs.readFileSync(path.join(goroot, "lib/wasm/wasm_exec.js"))],
    "/gpu.js": ["text/javascript", fs.readFileSync(path.join(root, "web/gpu.js"))],
    "/test.wasm": ["application/wasm", fs.readFileSync(program)],
  };
  fs.rmSync(dir, { recursive: true });
  const server = http.createServer((req, res) => {
    const file = files[req.url ?? ""];
    res.writeHead(file ? 200 : 404, { "Content-Type": file?.[0] ?? "text/plain" }).end(file?.[1]);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const page = await browser.newPage();
  try {
    await page.exposeFunction("said", say);
    const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
    await page.goto(`http://127.0.0.1:${port}/`);
    return await page.evaluate(({ args, env }) => new Promise((resolve, reject) => {
      const worker = new Worker("/worker.js");
      worker.onmessage = ({ data }) => {
        if (data.line !== undefined) /** @type {any} */ (window).said(data.line);
        else resolve(data.code);
      };
      worker.onerror = (e) => reject(new Error(e.message));
      worker.postMessage({ args, env });
    }), { args: ["test.wasm", ...args], env: {} });
  } finally {
    await page.close();
    server.closeAllConnections();
    server.close();
  }
}

export const webgpuFlags = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"];

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const browser = await launch(...webgpuFlags);
  const [pkg, ...args] = process.argv.slice(2);
  const code = await goTest(browser, pkg, args, (line) => console.log(line));
  await browser.close();
  process.exit(code);
}
