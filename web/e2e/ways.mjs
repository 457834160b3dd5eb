// Every way out of a page that we know of, by the names that docs/connections.md has
// for them. Each is given an address elsewhere and tries to reach it. The page loads
// this file as a module, and so does a trainer worker: see connections.test.mjs.
/** @typedef {{ http: string, https: string, ws: string, host: string, port: number }} Address */

const svg = "http://www.w3.org/2000/svg", html = "http://www.w3.org/1999/xhtml";

// added is a new element in the page.
/** @param {string} name @param {Record<string, string>} [attributes] @param {string} [space] @returns {any} */
function added(name, attributes = {}, space = html) {
  const e = document.createElementNS(space, name);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  document.body.append(e);
  return e;
}

const link = (rel, href, more = {}) => document.head.append(added("link", { rel, ...more, href }));
const drawn = (name, attributes) => added("svg", {}, svg).append(added(name, attributes, svg));
const filled = (text) => { added("div").innerHTML = text; };
const styled = (property, value) => { added("p").style[property] = value; };
const rule = (text) => [...document.styleSheets].find((s) => s.href).insertRule(text, 0);
const clicked = (href, more = {}) => added("a", { href, ...more }).click();
const worker = (text, options = {}) => new Worker(URL.createObjectURL(new Blob([text], { type: "text/javascript" })), options);
const submitted = (action, more = {}) => added("form", { action, ...more }).submit();

// call sets up a real-time connection by way of a server, in a window.
const kept = [];
/** @param {any} realm @param {string} urls */
async function call(realm, urls) {
  const p = new realm.RTCPeerConnection({ iceServers: [{ urls, username: "data", credential: "x" }] });
  kept.push(p);
  p.createDataChannel("x");
  await p.setLocalDescription();
}
/** @param {any} frame @param {Address} to */
const framed = (frame, to) => call(added("p").appendChild(frame).contentWindow, `stun:${to.host}`);

// ping sends a connectivity check with data in the name of the one that is called.
/** @param {Address} to */
async function ping({ port }) {
  const [a, b] = [new RTCPeerConnection(), new RTCPeerConnection()];
  kept.push(a, b);
  a.createDataChannel("x");
  await a.setLocalDescription();
  await b.setRemoteDescription(a.localDescription);
  const answer = await b.createAnswer();
  await a.setRemoteDescription({ type: "answer", sdp: answer.sdp.replace(/(a=ice-ufrag:).*/g, "$1c2VjcmV0") });
  await a.addIceCandidate({ candidate: `candidate:1 1 udp 2122260223 127.0.0.1 ${port} typ host`, sdpMid: "0" });
}

/** @type {Record<string, (to: Address) => any>} */
export const requests = {
  "`fetch`": (to) => fetch(to.http, { mode: "no-cors" }),
  "`fetch` that outlives the page": (to) => fetch(to.http, { mode: "no-cors", method: "POST", body: "x", keepalive: true }),
  "`fetchLater`": (to) => /** @type {any} */ (self).fetchLater(to.http, { activateAfter: 0 }),
  "`XMLHttpRequest`": (to) => { const x = new XMLHttpRequest(); x.open("GET", to.http); x.send(); },
  "`WebSocket`": (to) => new WebSocket(to.ws),
  "`WebSocketStream`": (to) => new /** @type {any} */ (self).WebSocketStream(to.ws),
  "`EventSource`": (to) => new EventSource(to.http),
  "`sendBeacon`": (to) => navigator.sendBeacon(to.http, "x"),
  "`WebTransport`": (to) => new WebTransport(to.https),
  "background fetch": async (to) => /** @type {any} */ (await navigator.serviceWorker.ready).backgroundFetch.fetch("x", [to.http]),
  "cache": async (to) => (await caches.open("ways")).add(new Request(to.http, { mode: "no-cors" })),
  "image": (to) => { new Image().src = to.http; },
  "image by `srcset`": (to) => { new Image().srcset = to.http + " 1x"; },
  "image in HTML from text": (to) => filled(`<img src="${to.http}">`),
  "image of an input": (to) => added("input", { type: "image", src: to.http }),
  "image of a drawing": (to) => drawn("image", { href: to.http }),
  "image of a drawing's filter": (to) => { drawn("filter", { id: "ways" }); document.getElementById("ways").append(added("feImage", { href: to.http }, svg)); styled("filter", "url(#ways)"); },
  "background of the body": (to) => document.body.setAttribute("background", to.http),
  "style with an address": (to) => styled("backgroundImage", `url("${to.http}")`),
  "style: mask": (to) => styled("maskImage", `url("${to.http}")`),
  "style: cursor": (to) => styled("cursor", `url("${to.http}"), auto`),
  "style: rule": (to) => rule(`body { border: 1px solid; border-image: url("${to.http}") 1; }`),
  "style: content": (to) => rule(`body::before { content: url("${to.http}"); }`),
  "style: constructed sheet": (to) => { const s = new CSSStyleSheet(); s.replaceSync(`html { background: url("${to.http}"); }`); document.adoptedStyleSheets.push(s); },
  "style: import": (to) => rule(`@import url("${to.http}");`),
  "style: element": (to) => { added("style").textContent = `@import url("${to.http}");`; },
  "stylesheet": (to) => link("stylesheet", to.http),
  "font": (to) => new FontFace("ways", `url("${to.http}")`).load(),
  "script": (to) => added("script", { src: to.http }),
  "module": (to) => import(to.http),
  "audio": (to) => new Audio(to.http).play(),
  "video": (to) => added("video", { src: to.http, preload: "auto" }),
  "video's picture": (to) => added("video", { poster: to.http }),
  "video's text": (to) => { const v = added("video", { crossorigin: "anonymous" }), t = document.createElement("track"); t.src = to.http; t.default = true; v.append(t); t.track.mode = "showing"; },
  "preload": (to) => link("preload", to.http, { as: "fetch", crossorigin: "anonymous" }),
  "module preload": (to) => link("modulepreload", to.http),
  "prefetch": (to) => link("prefetch", to.http),
  "preconnect": (to) => link("preconnect", to.http),
  "`dns-prefetch`": (to) => link("dns-prefetch", to.http),
  "compression dictionary": (to) => link("compression-dictionary", to.http),
  "link that nobody clicks": (to) => { added("a", { href: to.http }).textContent = "a link"; },
  "object": (to) => added("object", { data: to.http }),
  "embed": (to) => added("embed", { src: to.http }),
  "frame": (to) => added("iframe", { src: to.http }),
  "frame in HTML from text": (to) => filled(`<iframe src="${to.http}"></iframe>`),
  "frame with its own text": (to) => added("iframe", { srcdoc: `<img src="${to.http}">` }),
  "frame that moves on": (to) => added("iframe", { srcdoc: `<meta http-equiv="refresh" content="0;url=${to.http}">` }),
  "fetch of an empty frame": (to) => added("iframe").contentWindow.fetch(to.http, { mode: "no-cors" }),
  "worker elsewhere": (to) => new Worker(to.http),
  "worker made from text": (to) => worker(`fetch("${to.http}", { mode: "no-cors" })`),
  "worker's imports": (to) => worker(`importScripts("${to.http}")`),
  "module worker": (to) => worker(`import "${to.http}"`, { type: "module" }),
  "shared worker": (to) => new SharedWorker(URL.createObjectURL(new Blob([`fetch("${to.http}", { mode: "no-cors" })`]))),
  "service worker elsewhere": (to) => navigator.serviceWorker.register(to.http),
  "audio worklet": (to) => new AudioContext().audioWorklet.addModule(to.http),
  "paint worklet": (to) => /** @type {any} */ (CSS).paintWorklet.addModule(to.http),
  "WebRTC: STUN": (to) => call(self, `stun:${to.host}`),
  "WebRTC: TURN over UDP": (to) => call(self, `turn:${to.host}?transport=udp`),
  "WebRTC: TURN over TCP": (to) => call(self, `turn:${to.host}?transport=tcp`),
  "WebRTC: ICE": ping,
  "WebRTC of an empty frame": (to) => framed(document.createElement("iframe"), to),
  "WebRTC of a numbered frame": (to) => { added("iframe"); return call(self[self.length - 1], `stun:${to.host}`); },
  "WebRTC of a frame from text": (to) => { filled("<iframe></iframe>"); return framed(document.body.lastChild.firstChild, to); },
  "WebRTC of a parsed frame": (to) => framed(new DOMParser().parseFromString(`<iframe xmlns="${html}"/>`, "text/xml").documentElement, to),
  "WebRTC of a frame of another class": (to) => { const F = class extends HTMLIFrameElement {}; customElements.define("x-frame", F, { extends: "iframe" }); return framed(new F(), to); },
  "WebRTC of an object": (to) => framed(added("object", { data: "about:blank", type: "text/html" }), to),
  "WebRTC of a window": (to) => call(open("about:blank"), `stun:${to.host}`),
  "ping of a link": (to) => clicked("#x", { ping: to.http }),
  "attribution": (to) => added("img", { attributionsrc: to.http, src: "data:," }),
  "payment": (to) => new PaymentRequest([{ supportedMethods: to.https }], { total: { label: "x", amount: { currency: "EUR", value: "1" } } }).canMakePayment(),
  "federated login": (to) => navigator.credentials.get(/** @type {any} */ ({ identity: { providers: [{ configURL: to.http, clientId: "x" }] } })),
};

// Whoever goes these ways leaves the page, or changes it for those who go others.
/** @type {Record<string, (to: Address) => any>} */
export const departures = {
  "address of the page": (to) => { location.href = to.http; },
  "address of the page, replaced": (to) => location.replace(to.http),
  "navigation": (to) => /** @type {any} */ (self).navigation.navigate(to.http),
  "refresh": (to) => added("meta", { "http-equiv": "refresh", content: `0;url=${to.http}` }),
  "refresh by a copy of what was there": (to) => document.head.append(Object.assign(document.querySelector("meta").cloneNode(), { httpEquiv: "refresh", content: `0;url=${to.http}` })),
  "link that a script clicks": (to) => clicked(to.http),
  "link that a script clicks, by an event": (to) => added("a", { href: to.http }).dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true })),
  "download": (to) => clicked(to.http, { download: "x" }),
  "link to a new window": (to) => clicked(to.http, { target: "_blank" }),
  "new window": (to) => open(to.http),
  "new window by `document.open`": (to) => document.open(to.http, "x", ""),
  "form": (to) => submitted(to.http),
  "form with a body": (to) => submitted(to.http, { method: "post" }),
  "form to a new window": (to) => submitted(to.http, { target: "_blank" }),
  "base": (to) => { document.head.prepend(added("base", { href: to.http })); new Image().src = "x.png"; },
  "address that is a script": (to) => { location.href = `javascript:void fetch(${JSON.stringify(to.http)}, { mode: "no-cors" })`; },
  "speculation rules": (to) => { const s = document.createElement("script"); s.type = "speculationrules"; s.textContent = JSON.stringify({ prefetch: [{ urls: [to.http] }] }); document.head.append(s); },
  "preconnect by a link that was there": (to) => { Object.assign(document.querySelector("link"), { rel: "preconnect", href: to.http }); },
  "report of a breach": (to) => { document.head.append(added("meta", { "http-equiv": "Content-Security-Policy", content: `img-src 'none'; report-uri ${to.http}` })); new Image().src = "/x.png"; },
};

/** @type {Record<string, (to: Address) => any>} */
export const inWorker = {
  "worker: `fetch`": requests["`fetch`"],
  "worker: `XMLHttpRequest`": requests["`XMLHttpRequest`"],
  "worker: `WebSocket`": requests["`WebSocket`"],
  "worker: `EventSource`": requests["`EventSource`"],
  "worker: `WebTransport`": requests["`WebTransport`"],
  "worker: cache": requests["cache"],
  "worker: font": requests["font"],
  "worker: module": requests["module"],
  "worker: imports": (to) => /** @type {any} */ (self).importScripts(to.http),
  "worker: another worker": requests["worker made from text"],
  "worker: WebRTC": requests["WebRTC: STUN"],
};

/** @type {Record<string, (to: Address) => any>} */
export const inServiceWorker = {
  "service worker: `fetch`": requests["`fetch`"],
  "service worker: `WebSocket`": requests["`WebSocket`"],
  "service worker: cache": requests["cache"],
};

// go tries the ways that it has addresses for.
/** @param {Record<string, (to: Address) => any>} ways @param {Record<string, Address>} to */
export function go(ways, to) {
  for (const name of Object.keys(ways).filter((n) => to[n])) {
    try {
      Promise.resolve(ways[name](to[name])).catch(() => {});
    } catch { /* refused, or not there */ }
  }
}
