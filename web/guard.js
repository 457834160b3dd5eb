// Runs before every other script, in the page and in its workers, and takes away
// what the content security policy does not govern and Clipscope has no use for.
// docs/connections.md says what reaches the network all the same.
//
// Guarantee: none by itself. What the browser enforces is in app/headers; a script that
// is in the page and set on it may find its way round another script.
(() => {
  "use strict";

  // Real-time connections, which no policy covers; presentations, which open an
  // address elsewhere; event sources and fonts, to which Firefox 140 applies no policy in
  // a worker; and what makes elements past the two functions below.
  for (const name of Object.getOwnPropertyNames(self)) {
    if (/^(webkit|moz)?RTC|^WebTransport|^Presentation|^EventSource$|^FontFace$|^DOMParser$|^XSLTProcessor$|^customElements$/.test(name)) delete (/** @type {any} */ (self)[name]);
  }
  if (typeof document === "undefined") return; // a worker

  // A page of another site must not show this one within its own, unless whoever hosts
  // this one has named it. Where headers are sent the browser sees to it; elsewhere
  // nothing more of the page is loaded.
  if (top !== self) {
    const meta = /** @type {HTMLMetaElement | null} */ (document.querySelector('meta[name="clipscope-frames"]'));
    const hosts = (meta?.content.split(" ") ?? []).map((origin) => origin === "'self'" ? location.origin : origin);
    // Some browsers do not tell who is around a page. There the one right around it must
    // be the last, and nothing is said before that one has (embed.js).
    const around = location.ancestorOrigins && Array.from(location.ancestorOrigins);
    if (hosts.length === 0 || !(around?.every((origin) => hosts.includes(origin)) ?? parent === top)) {
      stop();
      document.documentElement.textContent = "Clipscope does not run inside this page. Open it in a tab of its own.";
      throw new Error("guard: framed");
    }
    self.clipscopeFrame = Object.freeze({ hosts: Object.freeze(hosts), host: around?.[0] ?? "" });
  }

  /** @param {string} what @returns {never} */
  const refuse = (what) => { throw new DOMException(`Clipscope does without ${what}`, "SecurityError"); };

  // Frames are fresh realms, in which nothing was taken away; the others look up a
  // name, connect or navigate before or without a policy.
  const unused = /^(base|embed|fencedframe|feimage|form|frame|frameset|iframe|image|link|meta|object)$/i;
  for (const [method, at] of /** @type {const} */ ([["createElement", 0], ["createElementNS", 1]])) {
    /** @type {any} */
    const prototype = Document.prototype, make = prototype[method];
    /** @param {any[]} args */
    prototype[method] = function(...args) {
      const name = args[at] = String(args[at]);
      if (unused.test(name.slice(name.indexOf(":") + 1))) refuse(`<${name}>`);
      return make.apply(this, args);
    };
  }

  // Text becomes elements in one place, go-app's icons. A browser that knows trusted
  // types asks this policy wherever text would; in others, that place asks it.
  const drawing = /^(<\/?(svg|path)( [a-z-]+="[^"<>]*")*\/?>)*$/i;
  const text = {
    /** @param {string} html */
    createHTML: (html) => drawing.test(html) ? html : refuse("HTML from text"),
    // Workers start from a text of ours (clipscope.js), the service worker from its file.
    /** @param {string} url */
    createScriptURL: (url) => url.startsWith("blob:") || new URL(url, location.href).href === worker ? url : refuse("scripts from elsewhere"),
  };
  const worker = new URL("../app-worker.js", /** @type {HTMLScriptElement} */ (document.currentScript).src).href;
  const { trustedTypes } = /** @type {any} */ (self);
  trustedTypes?.createPolicy("default", text);
  for (const [of, names] of /** @type {[any, string[]][]} */ ([
    [Document, ["parseHTMLUnsafe"]],
    [Document.prototype, ["open", "write", "writeln", "execCommand"]],
    [Element.prototype, ["insertAdjacentHTML", "setHTMLUnsafe", "outerHTML"]],
    [ShadowRoot.prototype, ["innerHTML", "setHTMLUnsafe"]],
    [Range.prototype, ["createContextualFragment"]],
  ])) for (const name of names) {
    const { set, ...kept } = Object.getOwnPropertyDescriptor(of, name) ?? {};
    if (set) Object.defineProperty(of, name, kept); // it may still be read
    else delete of[name];
  }
  if (!trustedTypes) {
    const inner = /** @type {any} */ (Object.getOwnPropertyDescriptor(Element.prototype, "innerHTML"));
    Object.defineProperty(Element.prototype, "innerHTML", {
      /** @param {unknown} html */
      ...inner, set(html) { inner.set.call(this, text.createHTML(String(html))); },
    });
  }

  // Nothing but the person before the page takes it to another site. go-app has
  // links to one open in a window, and would end if it did not find open.
  self.open = () => null;
  /** @type {any} */ (self).navigation?.addEventListener("navigate", (/** @type {any} */ e) => {
    if (!e.userInitiated && new URL(e.destination.url).origin !== location.origin) e.preventDefault();
  });
})();
