// The service worker: the page works offline, at the root of a host or under any
// path. The site generator fills in the version and the list of resources.
"use strict";

const SCOPE = new URL(self.registration.scope);
const PREFIX = "clipscope " + SCOPE.pathname + " ";
const VERSION = "{{.Version}}";

// What is kept, with the beginning of each file's SHA-256, by which it is known when it is
// kept and again whenever it is served. A cache is named by all of them, so that no two
// versions share one.
const SUMS = __SUMS__;
const CACHE = PREFIX + "__CACHE__";

// WHOLE is put into the cache after all files, once each was seen to be this version's:
// a worker may be ended at any time, and a host may change while it is asked. Without
// it nothing of the cache is used.
const WHOLE = SCOPE.href + "?whole";

// Of the kernels, those with relaxed multiply-add are for browsers that have it, and the others for those that
// have not: a module of one function, three times v128.const 0, f32x4.relaxed_madd, drop, tells.
const ZERO = [253, 12, ...new Array(16).fill(0)], BODY = [0, ...ZERO, ...ZERO, ...ZERO, 253, 133, 2, 26, 11];
const RELAXED = WebAssembly.validate(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 10, BODY.length + 2, 1, BODY.length, ...BODY]));
const useless = (r) => /\/kernels(-relaxed)?(-threads)?\.wasm$/.test(r) && r.includes("-relaxed") !== RELAXED;

// The list names the start page without its final slash, which some hosts answer
// by a redirect; a redirected response cannot answer a navigation.
const RESOURCES = {{.ResourcesToCache}}.filter((r) => !useless(r)).map((r) => {
  const url = new URL(r, SCOPE);
  return url.pathname + "/" === SCOPE.pathname ? SCOPE.href : url.href;
});

// What few pages come to need is kept once one did.
const LATER = {{.Later}}.map((r) => new URL(r, SCOPE).href);

// A guide is kept once it was read.
const GUIDES = {{.Guides}}.map((r) => new URL(r, SCOPE).href);

// A static host may not send these, and what is stored may say otherwise: here they are set
// over both.
const HEADERS = {{.Headers}};

// A page may be waiting for the first worker, for its headers, and fetches all files
// itself. A later one has its files before it is installed, and then waits until no page
// of the version before is open, or the only one asks for it: that page and what it
// fetches later stay of one version.
self.addEventListener("install", (event) => {
  event.waitUntil(self.registration.active ? keep() : self.skipWaiting());
});

// keep fills the cache and then says so, or throws, and what is active stays so.
async function keep() {
  const cache = await caches.open(CACHE), all = new Set(RESOURCES), missing = [];
  for (const url of [...LATER, ...GUIDES]) if (await caches.match(url)) all.add(url); // in an older cache, too
  await tidy(cache);
  for (const url of all) if (!await kept(cache, url)) missing.push(url);
  // What the page has just fetched is only asked about.
  await cache.addAll(missing.map(fresh));
  for (const url of missing) {
    if (await kept(cache, url)) continue;
    await caches.delete(CACHE);
    throw new Error(`${url} is not of the version ${VERSION}`);
  }
  await cache.put(WHOLE, new Response(VERSION));
}

const fresh = (url) => new Request(url, { cache: "no-cache" });

// kept returns the bytes that the cache has of a file, if they are this version's, and drops
// them if not: every script of the origin may write there.
//
// Guarantee: the bytes returned are those whose sum was taken, whatever is written to the
// cache meanwhile.
async function kept(cache, url) {
  const stored = await cache.match(url, { ignoreVary: true });
  const bytes = await stored?.arrayBuffer().catch(() => undefined); // of more than fits there are none
  if (bytes && await own(url, bytes)) return bytes;
  if (stored) await cache.delete(url, { ignoreVary: true });
  return undefined;
}

// tidy drops what the cache has and this version does not.
async function tidy(cache) {
  const names = new Set([WHOLE, ...Object.keys(SUMS).map((name) => SCOPE.origin + name)]);
  for (const request of await cache.keys()) if (!names.has(request.url)) await cache.delete(request, { ignoreVary: true });
}

// own reports whether bytes are this version's file.
async function own(url, bytes) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return [...digest].map((b) => b.toString(16).padStart(2, "0")).join("").startsWith(SUMS[new URL(url).pathname]);
}

// mine fetches a file and keeps it, if the network has this version's. A guide of another
// version is read all the same: it has no script that could not do with the others.
async function mine(cache, request, url) {
  const response = await fetch(request);
  if (!response.ok) return withHeaders(response);
  const bytes = await response.arrayBuffer();
  if (await own(url, bytes)) {
    await cache.put(url, released(bytes, url)).catch(() => {}); // there may be no room
    return released(bytes, url);
  }
  if (GUIDES.includes(url)) return withHeaders(new Response(bytes, response));
  return new Response("", { status: 409, statusText: "The site has a newer version. Reload the page." });
}

async function keepLater() {
  const cache = await caches.open(CACHE);
  for (const url of LATER) if (!await cache.match(url)) await mine(cache, fresh(url), url);
}

self.addEventListener("activate", (event) => {
  event.waitUntil((async () => {
    for (const key of await caches.keys()) {
      if (key.startsWith(PREFIX) && key !== CACHE) await caches.delete(key);
    }
  })());
});

// Claiming pages while activating would look like an update to them; they ask
// for it when they are ready, and have all that the page may come to need kept. A page of
// another version is not claimed.
self.addEventListener("message", (event) => {
  switch (event.data?.type) {
    case "claim":
      if (VERSION.startsWith(event.data.version)) event.waitUntil(claim());
      return;
    case "later":
      event.waitUntil(keepLater());
      return;
    case "update":
      event.waitUntil(update(event.ports[0]));
  }
});

async function claim() {
  const cache = await whole();
  await (cache ? tidy(cache) : keep());
  await self.clients.claim();
}

// update has this worker take the place of the one before, if no other page is open, and
// says how many are.
async function update(port) {
  const pages = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const others = pages.filter((page) => file(page.url)).length - 1;
  if (others < 1) await self.skipWaiting();
  port.postMessage({ others });
}

// file is the site's file that an address stands for, if it is one: a page's may lack its
// last slash, or end in index.html. What else lies below the scope is another's, who may
// need what this site forbids itself.
function file(address) {
  const { origin, pathname } = new URL(address);
  if (origin !== SCOPE.origin) return undefined;
  const name = [pathname, pathname.replace(/(\/(index\.html)?)?$/, "/")].find((name) => Object.hasOwn(SUMS, name));
  return name && origin + name;
}

self.addEventListener("fetch", (event) => {
  const { request } = event, name = file(request.url);
  if (request.method !== "GET") return;
  if (name) event.respondWith(answer(request, name));
  else if (request.mode === "navigate") event.respondWith(elsewhere(request));
});

async function answer(request, url) {
  const cache = await whole();
  if (!cache) return withHeaders(await fetch(request));
  const bytes = await kept(cache, url);
  return bytes ? released(bytes, url) : mine(cache, request, url);
}

// elsewhere is a page that is none of the site's: what the host says of it, or without a
// network that it is missing.
async function elsewhere(request) {
  const missing = SCOPE.href + "404.html";
  try {
    const response = await fetch(request);
    return response.status === 404 && await own(missing, await response.clone().arrayBuffer()) ? withHeaders(response) : response;
  } catch (e) {
    const cache = await whole(), bytes = cache && await kept(cache, missing);
    if (!bytes) throw e;
    return released(bytes, missing, 404);
  }
}

// whole is the cache, if all is there. Without one, as where nothing may be stored, there
// is the network.
async function whole() {
  try {
    const cache = await caches.open(CACHE);
    return await cache.match(WHOLE) && cache;
  } catch {
    return undefined;
  }
}

const TYPES = {
  css: "text/css; charset=utf-8", html: "text/html; charset=utf-8", js: "text/javascript; charset=utf-8", json: "application/json", mjs: "text/javascript; charset=utf-8",
  png: "image/png", svg: "image/svg+xml", txt: "text/plain; charset=utf-8", wasm: "application/wasm", webmanifest: "application/manifest+json",
};

// released is a file of this version with its own headers and none that was stored: a stored
// one may name a policy, or an address to go to.
function released(bytes, url, status = 200) {
  const [, extension] = new URL(url).pathname.match(/\.(\w+)$/) ?? ["", "html"];
  return new Response(bytes, { status, headers: { ...HEADERS, "Content-Type": TYPES[extension] } });
}

// withHeaders is what the host sent with this version's headers over its own.
function withHeaders(response) {
  if (response.type === "opaque" || response.type === "opaqueredirect" || response.status === 0) return response;
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(HEADERS)) headers.set(name, value);
  return new Response(response.body, { status: response.status, statusText: response.statusText, headers });
}
