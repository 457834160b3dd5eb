// What the tests of the Worker share: it and its site in workerd, as app/edge/wrangler.jsonc
// has them deployed, on a free port of this machine.
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Miniflare } from "miniflare";
import { unstable_getMiniflareWorkerOptions } from "wrangler";

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");

// start resolves with the running host. change is for what a test has otherwise.
/** @param {(options: any) => void} [change] */
export async function start(change) {
  const { workerOptions, main } = unstable_getMiniflareWorkerOptions(path.join(root, "app/edge/wrangler.jsonc"));
  const module = (/** @type {string} */ name, /** @type {string} */ type) => ({ type, path: path.join(root, name), contents: type === "CompiledWasm" ? fs.readFileSync(path.join(root, name)) : fs.readFileSync(path.join(root, name), "utf8") });
  /** @type {any} */
  const options = {
    ...workerOptions,
    modulesRoot: root,
    modules: [module(path.relative(root, path.resolve(root, "app/edge", main)), "ESModule"), module("web/edge/room.mjs", "ESModule"),
      ...["worker.mjs", "runtime.mjs", "wasm_exec.js"].map((name) => module("app/edge/build/" + name, "ESModule")), module("app/edge/build/app.wasm", "CompiledWasm")],
    host: "127.0.0.1",
    cf: false,
  };
  change?.(options);
  const host = new Miniflare(options);
  const url = await host.ready;
  return { host, url: url.href.replace(/\/$/, "") };
}
