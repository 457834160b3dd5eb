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

// foreign is an element that another document has for its root: no function made it.
/** @param {string} name @param {string} [space] @returns {any} */
const foreign = (name, space = html) => document.implementation.createDocument(space, name, null).documentElement;
const iframe = () => document.createElement("iframe");

// entered is framed for a frame that a function puts into the page, whose window is the last.
/** @param {Address} to @param {(frame: HTMLIFrameElement) => any} enter */
function entered(to, enter) {
  const before = self.length;
  enter(iframe());
  return self.length > before ? call(self[self.length - 1], `stun:${to.host}`) : undefined;
}
/** @param {string} name @param {...any} content */
const holding = (name, ...content) => { const e = document.createElement(name); e.append(...content); return e; };
const ranged = () => { const range = document.createRange(); range.selectNodeContents(added("p")); return range; };

// instead calls f while a method is another, as a script could have it.
/** @param {any} of @param {string} name @param {any} method @param {() => any} f */
function instead(of, name, method, f) {
  const own = of[name];
  of[name] = method;
  try { return f(); } finally { of[name] = own; }
}

// deep calls f where the stack ends, and again with ever more room, until it returns true.
/** @param {() => unknown} f */
function deep(f) {
  let done = false, left = 3000;
  const down = () => {
    try { down(); } catch { /* here it ends */ }
    if (done || left-- < 0) return;
    try { done = f() === true; } catch { /* not here */ }
  };
  down();
}

// own starts a worker of a script's own text, in which no guard ran.
/** @param {(to: Address) => any} way @returns {(to: Address) => any} */
const own = (way) => (to) => worker(`(${way})(${JSON.stringify(to)})`);
const page = (text) => URL.createObjectURL(new Blob([text], { type: "text/html" }));

// key asks for a key in another host's name, once the question before is over: the browser
// answers one at a time.
/** @param {(id: string, signal: AbortSignal) => Promise<any>} ask @returns {(to: Address) => Promise<any>} */
const key = (ask) => (to) => keyed = keyed.catch(() => {}).then(() => ask(to.host.split(":")[0], AbortSignal.timeout(3000)));
/** @type {Promise<any>} */
let keyed = Promise.resolve();

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
  "style: list": (to) => { added("ul", {}).append(added("li")); rule(`li { list-style-image: url("${to.http}"); }`); },
  "style: font": (to) => { rule(`@font-face { font-family: "ways rule"; src: url("${to.http}"); }`); styled("fontFamily", "ways rule"); document.body.lastElementChild?.append("x"); },
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
  "link that nobody clicks, with the focus": (to) => added("a", { href: to.http, tabindex: "0" }).focus(),
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
  "style: clip path": (to) => styled("clipPath", `url("${to.http}#x")`),
  "style: image set": (to) => styled("backgroundImage", `image-set("${to.http}" 1x)`),
  "style: shape": (to) => { const p = added("p"); p.style.cssFloat = "left"; p.style.shapeOutside = `url("${to.http}")`; },
  "style: variable": (to) => { const p = added("p"); p.style.setProperty("--x", `url("${to.http}")`); p.style.backgroundImage = "var(--x)"; },
  "style: filter elsewhere": (to) => styled("filter", `url("${to.http}#x")`),
  "style: paint of a drawing": (to) => drawn("path", { d: "M0 0h9v9z", fill: `url("${to.http}#x")` }),
  "style: of a shadow tree": (to) => { const root = added("div").attachShadow({ mode: "closed" }), s = new CSSStyleSheet(); s.replaceSync(`:host { background: url("${to.http}"); }`); root.adoptedStyleSheets = [s]; },
  "stylesheet of a shadow tree": (to) => added("div").attachShadow({ mode: "closed" }).append(Object.assign(document.createElement("link"), { rel: "stylesheet", href: to.http })),
  "stylesheet by an instruction": (to) => document.insertBefore(document.createProcessingInstruction("xml-stylesheet", `href="${to.http}" type="text/css"`), document.documentElement),
  "background of a table": (to) => added("table").append(added("td", { background: to.http })),
  "picture's source": (to) => { const p = added("picture"); p.append(Object.assign(document.createElement("source"), { srcset: to.http }), new Image()); },
  "audio's source": (to) => { const a = added("audio", { preload: "auto" }); a.append(Object.assign(document.createElement("source"), { src: to.http })); a.load(); },
  "use of a drawing": (to) => drawn("use", { href: to.http + "#x" }),
  "image of a drawing, set later": (to) => { const image = added("image", { width: "9", height: "9" }, svg); added("svg", {}, svg).append(image); image.append(added("set", { attributeName: "href", to: to.http }, svg)); },
  "script of a drawing": (to) => drawn("script", { href: to.http }),
  "frame in a drawing": (to) => added("svg", {}, svg).appendChild(added("foreignObject", {}, svg)).append(added("iframe", { src: to.http })),
  "icon": (to) => link("icon", to.http),
  "manifest": (to) => link("manifest", to.http),
  "search description": (to) => link("search", to.http, { type: "application/opensearchdescription+xml" }),
  "prerender": (to) => link("prerender", to.http),
  "preload of pictures": (to) => link("preload", "", { as: "image", imagesrcset: to.http + " 1x" }),
  "preconnect by a link of another document": (to) => { const e = foreign("link"); e.rel = "preconnect"; e.href = to.http; document.head.append(e); },
  "preconnect by a link in a shadow tree": (to) => added("div").attachShadow({ mode: "closed" }).append(Object.assign(document.createElement("link"), { rel: "preconnect", href: to.http })),
  "module of data": (to) => import(/* @vite-ignore */ `data:text/javascript,import ${JSON.stringify(to.http)}`),
  "module of a text": (to) => import(URL.createObjectURL(new Blob([`import ${JSON.stringify(to.http)}`], { type: "text/javascript" }))),
  "module that is JSON": (to) => import(to.http, { with: { type: "json" } }),
  "module that is a stylesheet": (to) => import(to.http, { with: { type: "css" } }),
  "worker of a file of the site": (to) => { new Worker("ways-worker.js").postMessage(to); },
  "module worker of a file of the site": (to) => { new Worker("ways-worker.js", { type: "module" }).postMessage(to); },
  "shared worker of a file of the site": (to) => new SharedWorker("ways-worker.js").port.postMessage(to),
  "service worker of a file of the site": async (to) => { const { installing, waiting, active } = await navigator.serviceWorker.register("ways-worker.js", { scope: "none/" }); (installing ?? waiting ?? active)?.postMessage(to); },
  "service worker of another one's name, from another address": async (to) => {
    const { href } = location;
    history.replaceState(null, "", "/ways/");
    const registered = navigator.serviceWorker.register("app-worker.js"); // in that folder
    history.replaceState(null, "", href);
    const { installing, waiting, active } = await registered;
    (installing ?? waiting ?? active)?.postMessage(to);
  },
  "worker made from text: `WebSocket`": own((to) => new WebSocket(to.ws)),
  "worker made from text: `EventSource`": own((to) => new EventSource(to.http)),
  "worker made from text: `WebTransport`": own((to) => new WebTransport(to.https)),
  "worker made from text: font": own((to) => new FontFace("ways", `url("${to.http}")`).load()),
  "worker made from text: module": own((to) => import(to.http)),
  "worker made from text: cache": own(async (to) => (await caches.open("ways")).add(new Request(to.http, { mode: "no-cors" }))),
  "worker made from text: another": own((to) => new Worker(URL.createObjectURL(new Blob([`new WebSocket("${to.ws}")`])))),
  "worker made from text: a file of the site": own((to) => {
    /** @type {any} */ (self).trustedTypes?.createPolicy("default", { createScriptURL: (url) => url });
    new Worker(location.origin + "/ways-worker.js").postMessage(to);
  }),
  "worker made from text: WebRTC": own((to) => new /** @type {any} */ (self).RTCPeerConnection({ iceServers: [{ urls: `stun:${to.host}` }] })),
  "shared worker: `WebSocket`": (to) => new SharedWorker(URL.createObjectURL(new Blob([`new WebSocket("${to.ws}")`]))),
  "picture of a notification": (to) => new Notification("ways", { icon: to.http }),
  "picture of what is played": (to) => { navigator.mediaSession.metadata = new MediaMetadata({ artwork: [{ src: to.http }] }); },
  "key: signal of an unknown one": key((rpId) => /** @type {any} */ (PublicKeyCredential).signalUnknownCredential({ rpId, credentialId: "AAAA" })),
  "key: signal of all": key((rpId) => /** @type {any} */ (PublicKeyCredential).signalAllAcceptedCredentials({ rpId, userId: "AAAA", allAcceptedCredentialIds: [] })),
  "key: creation": key((id, signal) => navigator.credentials.create({ signal, publicKey: { rp: { id, name: "x" }, user: { id: new Uint8Array(9), name: "x", displayName: "x" }, challenge: new Uint8Array(9), pubKeyCredParams: [{ type: "public-key", alg: -7 }] } })),
  "key: use": key((rpId, signal) => navigator.credentials.get({ signal, publicKey: { rpId, challenge: new Uint8Array(9) } })),
  "federated login, ended": (to) => /** @type {any} */ (self).IdentityCredential.disconnect({ configURL: to.http, clientId: "x", accountHint: "x" }),
  "federated login: who it is": (to) => /** @type {any} */ (self).IdentityProvider.getUserInfo({ configURL: to.http, clientId: "x" }),
  "interest group": (to) => /** @type {any} */ (navigator).joinAdInterestGroup({ owner: new URL(to.https).origin, name: "x", lifetimeMs: 1e6, updateURL: to.https, biddingLogicURL: to.https }, 1e6),
  "auction": (to) => /** @type {any} */ (navigator).runAdAuction({ seller: new URL(to.https).origin, decisionLogicURL: to.https, interestGroupBuyers: [] }),
  "WebRTC of a frame of another document": (to) => framed(foreign("iframe"), to),
  "WebRTC of a frame of another document, imported": (to) => framed(document.importNode(foreign("iframe"), true), to),
  "WebRTC of a frame of another document, adopted": (to) => framed(document.adoptNode(foreign("iframe")), to),
  "WebRTC of a frame of another document, copied": (to) => framed(foreign("iframe").cloneNode(), to),
  "WebRTC of a frame in what another document has": (to) => { const e = foreign("div"); e.append(iframe()); added("p").append(e); return call(e.firstChild.contentWindow, `stun:${to.host}`); },
  "WebRTC of a frame in a template": (to) => entered(to, (frame) => { const t = document.createElement("template"); t.content.append(frame); document.body.append(t.content.cloneNode(true)); }),
  "WebRTC of a frame in a shadow tree": (to) => { const frame = iframe(); added("div").attachShadow({ mode: "closed" }).append(frame); return call(frame.contentWindow, `stun:${to.host}`); },
  "WebRTC of a frame in a drawing": (to) => entered(to, (frame) => added("svg", {}, svg).appendChild(document.createElementNS(svg, "foreignObject")).append(frame)),
  "WebRTC of a frame before another node": (to) => entered(to, (frame) => added("p").before(frame)),
  "WebRTC of a frame after a text": (to) => entered(to, (frame) => added("p").appendChild(document.createTextNode("x")).after(frame)),
  "WebRTC of a frame in another's place": (to) => entered(to, (frame) => added("p").replaceWith(frame)),
  "WebRTC of a frame in a child's place": (to) => entered(to, (frame) => { const p = added("p"); p.append("x"); p.replaceChild(frame, p.firstChild); }),
  "WebRTC of a frame instead of all": (to) => entered(to, (frame) => added("p").replaceChildren(frame)),
  "WebRTC of a frame beside an element": (to) => entered(to, (frame) => added("p").insertAdjacentElement("afterend", frame)),
  "WebRTC of a frame in a range": (to) => entered(to, (frame) => ranged().insertNode(frame)),
  "WebRTC of a frame around a range": (to) => entered(to, (frame) => ranged().surroundContents(frame)),
  "WebRTC of a frame that a range takes in": (to) => {
    const other = document.implementation.createDocument(html, "iframe"), range = other.createRange(), div = document.createElement("div");
    range.selectNodeContents(other);
    range.surroundContents(div);
    return entered(to, () => document.body.append(div));
  },
  "WebRTC of a frame in a choice": (to) => entered(to, (frame) => { const o = /** @type {any} */ (holding("option", frame)); added("select")[0] = o; }),
  "WebRTC of a frame in a choice, added": (to) => entered(to, (frame) => added("select").add(holding("option", frame))),
  "WebRTC of a frame in a caption": (to) => entered(to, (frame) => { added("table").caption = holding("caption", frame); }),
  "WebRTC of a frame in a fragment": (to) => entered(to, (frame) => { const f = document.createDocumentFragment(); f.append(frame); added("p").append(f); }),
  "WebRTC of a frame from text, parsed elsewhere": (to) => framed(/** @type {any} */ (Document).parseHTMLUnsafe("<iframe></iframe>").body.firstChild, to),
  "WebRTC of a frame from text in a shadow tree": (to) => { const e = added("div"); e.setHTMLUnsafe('<p><template shadowrootmode="open"><iframe></iframe></template></p>'); return call(e.firstChild.shadowRoot.firstChild.contentWindow, `stun:${to.host}`); },
  "WebRTC of a frame from text beside an element": (to) => entered(to, () => added("p").insertAdjacentHTML("beforeend", "<iframe></iframe>")),
  "WebRTC of a frame from text in a range": (to) => entered(to, () => document.body.append(ranged().createContextualFragment("<iframe></iframe>"))),
  "WebRTC of a frame from text in another document": (to) => { const d = document.implementation.createHTMLDocument(); d.body.innerHTML = "<iframe></iframe>"; return framed(d.body.firstChild, to); },
  "WebRTC of a frame by a transformation": (to) => {
    const sheet = document.implementation.createDocument("http://www.w3.org/1999/XSL/Transform", "xsl:stylesheet", null), at = sheet.documentElement;
    at.setAttribute("version", "1.0");
    at.appendChild(sheet.createElementNS(at.namespaceURI, "xsl:template")).setAttribute("match", "/");
    /** @type {any} */ (at.firstChild).append(sheet.createElementNS(html, "iframe"));
    const x = new XSLTProcessor();
    x.importStylesheet(sheet);
    return entered(to, () => document.body.append(x.transformToFragment(document.implementation.createDocument(null, "x", null), document)));
  },
  "WebRTC of a frame without credentials": (to) => framed(Object.assign(iframe(), { credentialless: true }), to),
  "WebRTC of a frame with `RegExp` of its own": (to) => instead(RegExp.prototype, "test", () => false, () => instead(RegExp.prototype, "exec", () => null, () => framed(iframe(), to))),
  "WebRTC of a frame with `apply` of its own": (to) => {
    /** @type {any} */ let make;
    const apply = Function.prototype.apply;
    const taken = /** @this {any} @param {any} it @param {any} [args] */ function(it, args) { make ??= this; return Reflect.apply(apply, this, [it, args]); };
    instead(Function.prototype, "apply", taken, () => document.createElement("p"));
    return framed(make ? Reflect.apply(make, document, ["iframe"]) : iframe(), to);
  },
  "WebRTC of a frame with `Node` of its own": (to) => instead(self, "Node", {}, () => framed(iframe(), to)),
  "WebRTC of a frame where the stack ends": (to) => { const p = added("p"), frame = iframe(); deep(() => { p.append(frame); return frame.isConnected; }); return call(frame.contentWindow, `stun:${to.host}`); },
  "WebRTC of a frame with `WeakSet` of its own": (to) => instead(WeakSet.prototype, "has", () => true, () => framed(iframe(), to)),
  "WebRTC of an embedded page": (to) => { added("embed", { src: "about:blank", type: "text/html" }); return call(self[self.length - 1], `stun:${to.host}`); },
  "WebRTC of a window above others": async (to) => {
    while (!navigator.userActivation.isActive) await new Promise((resolve) => setTimeout(resolve, 20)); // the driver's questions count
    return call(await /** @type {any} */ (self).documentPictureInPicture.requestWindow(), `stun:${to.host}`);
  },
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
  "page from text that moves on": (to) => { location.href = page(`<meta http-equiv="refresh" content="0;url=${to.http}">`); },
  "page from text that moves on, by a link": (to) => clicked(page(`<meta http-equiv="refresh" content="0;url=${to.http}">`)),
  "page from text that has a frame": (to) => { location.href = page(`<iframe src="${to.http}"></iframe>`); },
  "address of the page, with `preventDefault` of its own": (to) => { Event.prototype.preventDefault = () => {}; location.href = to.http; },
  "address of the page, with `URL` of its own": (to) => { Object.defineProperty(URL.prototype, "origin", { get: () => location.origin }); Object.assign(self, { URL: class { origin = location.origin; protocol = "http:"; } }); location.href = to.http; },
  "address of the page, where the stack ends": (to) => deep(() => { location.href = to.http; return true; }),
  "refresh of another document": (to) => { const e = foreign("meta"); e.httpEquiv = "refresh"; e.content = `0;url=${to.http}`; document.head.append(e); },
  "refresh by what was there": (to) => Object.assign(document.querySelector("meta"), { httpEquiv: "refresh", content: `0;url=${to.http}` }),
  "form of another document": (to) => { const e = foreign("form"); e.setAttribute("action", to.http); e.setAttribute("method", "post"); document.body.append(e); e.submit(); },
  "frameset": (to) => { const set = document.createElement("frameset"), frame = document.createElement("frame"); set.append(frame); document.body = set; return call(frame.contentWindow, `stun:${to.host}`); },
  "link to a new window, of a drawing": (to) => { const e = document.createElementNS(svg, "a"); e.setAttribute("href", to.http); e.target.baseVal = "_blank"; e.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true })); },
  "link that a script clicks with Ctrl": (to) => added("a", { href: to.http }).dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, ctrlKey: true })),
  "preconnect by an attribute of a link that was there": (to) => { const e = document.querySelector("link"); e.setAttribute("rel", "preconnect"); e.attributes.getNamedItem("href").value = to.http; },
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
