// The service worker: the page works offline, at the root of a host or under any
// path. The site generator fills in the version and the list of resources.
"use strict";

const SCOPE = new URL(self.registration.scope);
const PREFIX = "clipscope " + SCOPE.pathname + " ";
const CACHE = PREFIX + "{{.Version}}";

// The list names the start page without its final slash, which some hosts answer
// by a redirect; a redirected response cannot answer a navigation.
const RESOURCES = {{.ResourcesToCache}}.map((r) => {
  const url = new URL(r, SCOPE);
  return url.pathname + "/" === SCOPE.pathname ? SCOPE.href : url.href;
});

// What few pages come to need is kept once one did.
const LATER = {{.Later}}.map((r) => new URL(r, SCOPE).href);

// A static host may not send these; then they come from here.
const HEADERS = {{.Headers}};

// A page may be waiting for the first worker, for its headers, and fetches all files
// itself. A later one replaces another, and has its files before.
self.addEventListener("install", (event) => {
  event.waitUntil((async () => {
    if (self.registration.active) await keep();
    await self.skipWaiting();
  })());
});

async function keep() {
  const cache = await caches.open(CACHE), all = new Set(RESOURCES.map((r) => new URL(r, SCOPE).href));
  for (const url of LATER) if (await caches.match(url)) all.add(url); // in an older cache, too
  const there = new Set((await cache.keys()).map((request) => request.url));
  if ([...all].every((url) => there.has(url))) return;
  // What the page has just fetched is only asked about.
  await cache.addAll([...all].map(fresh));
}

const fresh = (url) => new Request(url, { cache: "no-cache" });

async function keepLater() {
  const cache = await caches.open(CACHE);
  for (const url of LATER) if (!await cache.match(url)) await cache.add(fresh(url));
}

self.addEventListener("activate", (event) => {
  event.waitUntil((async () => {
    for (const key of await caches.keys()) {
      if (key.startsWith(PREFIX) && key !== CACHE) await caches.delete(key);
    }
  })());
});

// Claiming pages while activating would look like an update to them; they ask
// for it when they are ready, and have all that the page may come to need kept.
self.addEventListener("message", (event) => {
  if (event.data?.type === "claim") event.waitUntil(keep().then(() => self.clients.claim()));
  if (event.data?.type === "later") event.waitUntil(keepLater());
});

self.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  if (event.request.method !== "GET" || url.origin !== SCOPE.origin || !url.pathname.startsWith(SCOPE.pathname)) return;
  event.respondWith(answer(event.request, url.origin + url.pathname));
});

async function answer(request, url) {
  // Without a cache, as where nothing may be stored, there is the network.
  const cache = await caches.open(CACHE).catch(() => undefined);
  // How a stored response was packed no longer matters, so Vary does not either.
  const stored = (name) => cache?.match(name, { ignoreVary: true });
  const page = request.mode === "navigate";
  return withHeaders(await stored(url)
    ?? (page ? await stored(url.replace(/(\/(index\.html)?)?$/, "/")) : undefined)
    ?? await fetch(request).catch(async (e) => {
      const missing = page && await stored(SCOPE.href + "404.html");
      if (!missing) throw e;
      return new Response(missing.body, { status: 404, headers: missing.headers });
    }));
}

function withHeaders(response) {
  if (response.type === "opaque" || response.type === "opaqueredirect" || response.status === 0) return response;
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(HEADERS)) {
    if (!headers.has(name)) headers.set(name, value);
  }
  return new Response(response.body, { status: response.status, statusText: response.statusText, headers });
}
