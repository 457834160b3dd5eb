// What the service worker does with guides, without a browser: one is kept once it was read, if it is of
// its version, and is there offline and after an update.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import vm from "node:vm";

const template = fs.readFileSync(path.join(fileURLToPath(new URL(".", import.meta.url)), "../app-worker.tmpl.js"), "utf8");
const origin = "https://example.org", scope = origin + "/repo/";
const sum = (/** @type {string} */ text) => createHash("sha256").update(text).digest("hex").slice(0, 32);

// worker is a service worker of a version, over caches and a network that are given.
function worker(caches, network, files, cacheName) {
  const sums = Object.fromEntries(Object.entries(files).map(([name, text]) => [new URL(name, scope).pathname, sum(text)]));
  const fill = { "{{.Version}}": cacheName, "{{.ResourcesToCache}}": '["/repo"]', "{{.Later}}": "[]", "{{.Guides}}": '["guides/", "guides/methods/"]', "{{.Headers}}": '{"X-Added": "yes"}', "__SUMS__": JSON.stringify(sums), "__CACHE__": cacheName };
  const script = Object.entries(fill).reduce((text, [from, to]) => text.replaceAll(from, to), template);
  const heard = {};
  const self = { registration: { scope, active: {} }, addEventListener: (type, f) => { heard[type] = f; }, skipWaiting: async () => {}, clients: { claim: async () => {} } };
  vm.runInNewContext(script, { self, caches, fetch: network, URL, Request, Response, Headers, crypto, console });
  const wait = async (type) => { let done; heard[type]({ waitUntil: (p) => { done = p; } }); await done; };
  const ask = async (name) => {
    let answer;
    heard.fetch({ request: { url: new URL(name, scope).href, method: "GET", mode: "navigate" }, respondWith: (p) => { answer = p; } });
    return answer;
  };
  return { install: () => wait("install"), activate: () => wait("activate"), ask };
}

// storage is caches in memory.
function storage() {
  const all = new Map(), urlOf = (r) => typeof r === "string" ? r : r.url;
  const open = async (name) => {
    if (!all.has(name)) all.set(name, new Map());
    const kept = all.get(name);
    return {
      match: async (r) => kept.get(urlOf(r))?.clone(),
      put: async (r, response) => { kept.set(urlOf(r), response); },
      keys: async () => [...kept.keys()].map((url) => ({ url })),
      addAll: async (list) => { for (const r of list) kept.set(urlOf(r), await caches.network(r)); },
    };
  };
  const caches = {
    network: undefined, open,
    match: async (url) => [...all.values()].map((kept) => kept.get(url)).find(Boolean)?.clone(),
    keys: async () => [...all.keys()],
    delete: async (name) => all.delete(name),
  };
  return caches;
}

test("a guide is kept once it was read, and no other", async () => {
  const caches = storage(), files = { "": "start", "guides/": "all guides", "guides/methods/": "methods" };
  let online = true;
  const asked = [], served = { ...files };
  const network = caches.network = async (r) => {
    const url = r.url ?? r, name = url.slice(scope.length);
    asked.push(name);
    if (!online) throw new TypeError("no network");
    return name in served ? new Response(served[name]) : new Response("nothing", { status: 404 });
  };
  const first = worker(caches, network, files, "one");
  await first.install();
  assert.deepEqual(asked, [""], "guides are not fetched until somebody reads one");

  const read = await first.ask("guides/methods/");
  assert.equal(await read.text(), "methods");
  assert.equal(read.headers.get("X-Added"), "yes");
  online = false;
  for (const name of ["guides/methods/", "guides/methods", "guides/methods/index.html"]) assert.equal(await (await first.ask(name)).text(), "methods", name);
  await assert.rejects(first.ask("guides/"), /no network/);

  // One of another version is read and not kept.
  online = true;
  served["guides/"] = "newer guides";
  assert.equal(await (await first.ask("guides/")).text(), "newer guides");
  online = false;
  await assert.rejects(first.ask("guides/"), /no network/);

  // An update has what was read, of its own version.
  online = true;
  asked.length = 0;
  served["guides/methods/"] = "newer methods";
  const second = worker(caches, network, { "": "start", "guides/": "newer guides", "guides/methods/": "newer methods" }, "two");
  await second.install();
  await second.activate();
  assert.deepEqual(asked.sort(), ["", "guides/methods/"]);
  online = false;
  assert.equal(await (await second.ask("guides/methods/")).text(), "newer methods");
});
