// What the tests of the Worker share: it and its site in workerd, as app/edge/wrangler.jsonc
// has them deployed, on a free port of this machine.
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Miniflare } from "miniflare";
import { unstable_getMiniflareWorkerOptions } from "wrangler";

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const folder = path.join(root, "app/edge/build");

// start resolves with the running host. change is for what a test has otherwise.
/** @param {(options: any) => void} [change] */
export async function start(change) {
  const { workerOptions, main } = unstable_getMiniflareWorkerOptions(path.join(root, "app/edge/wrangler.jsonc"));
  const module = (/** @type {string} */ name, /** @type {string} */ type) => ({ type, path: path.join(folder, name), contents: type === "CompiledWasm" ? fs.readFileSync(path.join(folder, name)) : fs.readFileSync(path.join(folder, name), "utf8") });
  /** @type {any} */
  const options = {
    ...workerOptions,
    modulesRoot: folder,
    modules: [module(path.basename(main), "ESModule"), module("runtime.mjs", "ESModule"), module("wasm_exec.js", "ESModule"), module("app.wasm", "CompiledWasm")],
    host: "127.0.0.1",
    cf: false,
  };
  change?.(options);
  const host = new Miniflare(options);
  const url = await host.ready;
  return { host, url: url.href.replace(/\/$/, "") };
}
