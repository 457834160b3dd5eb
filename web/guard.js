// Runs before every other script, in the page and in its workers, and takes away
// what the content security policy does not govern and Clipscope has no use for.
// docs/connections.md says what reaches the network all the same.
//
// Guarantee: none by itself. What the browser enforces is in app/headers; a script that
// is in the page and set on it may find its way round another script.
(() => {
  "use strict";

  // What another script could replace is taken before one can, and nothing else is called
  // once there may be others: no method of an array, a text, an event or a function.
  const { apply, defineProperty, getOwnPropertyDescriptor: property, ownKeys } = Reflect;
  const { exec } = RegExp.prototype;
  /** @type {(pattern: RegExp, text: string) => boolean} */
  const matches = (pattern, text) => apply(exec, pattern, [text]) !== null;

  // Real-time connections, which no policy covers; presentations, payments, keys and logins,
  // which open an address elsewhere; windows above others; event sources and fonts, to which
  // Firefox 140 applies no policy in a worker; workers that outlive the page; and what makes
  // a tree of a text.
  const gone = new RegExp("^(webkit|moz)?(RTC|Speech)|^(WebTransport|Presentation|Payment|PublicKey|Credential|" +
    "Authenticator|Identity|Digital|DocumentPictureInPicture|Push|BackgroundFetch|Notification)" +
    "|^(EventSource|FontFace|SharedWorker|DOMParser|XSLTProcessor|customElements|documentPictureInPicture|speechSynthesis|cookieStore|sharedStorage|fetchLater)$");
  for (const name of Object.getOwnPropertyNames(self)) if (matches(gone, name)) delete (/** @type {any} */ (self)[name]);
  for (const [of, names] of /** @type {[string, string[]][]} */ ([
    ["Navigator", ["credentials", "login", "presentation", "registerProtocolHandler", "joinAdInterestGroup", "runAdAuction"]],
    ["ServiceWorkerRegistration", ["backgroundFetch", "pushManager", "showNotification"]],
    ["Range", ["insertNode", "surroundContents", "extractContents"]], // these move what nobody named
  ])) for (const name of names) delete (/** @type {any} */ (self)[of]?.prototype[name]);
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

  // fence lets Worker start from texts alone that were made where it starts, and puts itself
  // before each: a worker could give itself leave for a file of the site, which on a host
  // without headers has no policy. So it uses nothing that is around it.
  function fence() {
    const { apply, construct, defineProperty } = Reflect, { Worker, Blob, URL, DOMException, setTimeout } = self;
    const own = `(${apply(Function.prototype.toString, fence, [])})();\n`;
    for (const [of, name] of [[self, "SharedWorker"], [/** @type {any} */ (self).WorkerNavigator?.prototype ?? {}, "serviceWorker"]]) delete of[name];
    if (!Worker) return;
    /** @type {Map<string, any>} */
    const texts = new Map();
    const { get, set, delete: drop } = Map.prototype, { createObjectURL: make, revokeObjectURL: revoke } = URL;
    URL.createObjectURL = (of) => {
      const url = apply(make, URL, [of]);
      apply(set, texts, [url, of]);
      return url;
    };
    URL.revokeObjectURL = (at) => {
      const url = `${at}`;
      apply(drop, texts, [url]);
      apply(revoke, URL, [url]);
    };
    /** @param {any} text @returns {any} a list that no script can iterate otherwise */
    const parts = (text) => ({ [Symbol.iterator]: () => {
      let i = 0;
      return { next: () => ({ done: i === 2, value: i++ === 0 ? own : text }) };
    } });
    /** @param {string | URL} at @param {WorkerOptions} [options] @returns {Worker} */
    const Fenced = function(at, options) {
      const text = apply(get, texts, [`${at}`]);
      if (!text) throw new DOMException("Clipscope does without workers but from a text", "SecurityError");
      const url = apply(make, URL, [new Blob(parts(text), { type: "text/javascript" })]);
      setTimeout(() => apply(revoke, URL, [url]), 60000);
      return construct(Worker, [url, options], new.target);
    };
    Fenced.prototype = Worker.prototype;
    defineProperty(Worker.prototype, "constructor", { value: Fenced });
    defineProperty(self, "Worker", { value: Fenced });
  }
  fence();

  /** @param {string} what @returns {never} */
  const refuse = (what) => { throw new DOMException(`Clipscope does without ${what}`, "SecurityError"); };

  /** @param {any} of @param {string} name @returns {(it: any) => any} */
  const getter = (of, name) => {
    const get = /** @type {any} */ (property(of.prototype, name)).get;
    return (it) => apply(get, it, []);
  };
  // wrap has a method look at its arguments first, before they become anything else.
  /** @param {any} of @param {string[]} names @param {(it: any, values: any[]) => void} look */
  const wrap = ({ prototype }, names, look) => {
    for (const name of names) {
      const method = prototype[name];
      if (!method) continue;
      /** @param {any[]} values */
      prototype[name] = function(...values) {
        look(this, values);
        return apply(method, this, values);
      };
    }
  };
  // fix leaves of an accessor what reads it.
  /** @param {any} of @param {string} name */
  const fix = (of, name) => {
    if (property(of, name)?.set) defineProperty(of, name, { set: undefined });
  };

  // Frames are fresh realms, in which nothing was taken away; other elements look up a name,
  // connect or navigate before or without a policy. Out of a tree none of them does. So it
  // is looked at where a node gets a parent, wherever it was made: these elements may.
  //
  // Guarantee: no element gets another one below it, but for what the browser read in a file of
  // the site. Each time that one gets a parent, all of it is looked at: nothing is remembered of
  // a tree, which may have changed. What takes a node otherwise than by these methods takes
  // one kind alone (an option, a caption), below which the same holds.
  /** @param {string} names @returns {Record<string, true>} */
  const set = (names) => Object.assign(Object.create(null), Object.fromEntries(names.split(" ").map((name) => [name, true])));
  /** @type {Record<string, Record<string, true>>} */
  const spaces = Object.assign(Object.create(null), {
    "http://www.w3.org/1999/xhtml": set("a abbr address article aside b bdi bdo blockquote br button canvas caption cite code col colgroup data datalist dd del details " +
      "dfn dialog div dl dt em fieldset figcaption figure font footer h1 h2 h3 h4 h5 h6 header hgroup hr i input ins kbd label legend li main mark menu meter nav " +
      "ol optgroup option output p pre progress q rp rt ruby s samp search section select small span strong sub summary sup table tbody td textarea tfoot th thead " +
      "time tr u ul var wbr"),
    "http://www.w3.org/2000/svg": set("svg path"),
  });
  const typeOf = getter(Node, "nodeType"), spaceOf = getter(Element, "namespaceURI"), nameOf = getter(Element, "localName");
  const next = getter(Element, "nextElementSibling"), first = getter(Element, "firstElementChild"), firstOf = getter(DocumentFragment, "firstElementChild");
  // A link that has the focus, or the pointer over it, has Firefox connect to its host, whatever the
  // policy says: none leads to another site.
  const { URL } = self, { origin: here } = location, base = getter(Node, "baseURI"), address = getter(URL, "href"), originOf = getter(URL, "origin"), protocolOf = getter(URL, "protocol");
  const attribute = Element.prototype.getAttribute;
  /** @param {any} href */
  const leads = (href) => {
    if (href === null) return;
    let url;
    try { url = new URL(href, base(document)); } catch { return; } // it leads nowhere
    if (matches(/^(https?|wss?|ftp):$/, protocolOf(url)) && originOf(url) !== here) refuse("links to another site");
  };
  /** @param {any} element */
  const look = (element) => {
    const name = nameOf(element);
    if (spaces[spaceOf(element)]?.[name] !== true) refuse(`<${name}>`);
    if (name === "a") leads(apply(attribute, element, ["href"]));
    for (let child = first(element); child; child = next(child)) look(child);
  };
  // What throws here, of an object that is no node or where the stack ends, is not caught:
  // then nothing enters.
  const { ELEMENT_NODE, ATTRIBUTE_NODE, PROCESSING_INSTRUCTION_NODE, DOCUMENT_FRAGMENT_NODE } = Node;
  /** @param {any} value */
  const enter = (value) => {
    if (typeof value !== "object" && typeof value !== "function" || value === null) return; // a text
    const type = typeOf(value);
    if (type === ELEMENT_NODE) look(value);
    else if (type === DOCUMENT_FRAGMENT_NODE) for (let child = firstOf(value); child; child = next(child)) look(child);
    else if (type === PROCESSING_INSTRUCTION_NODE) refuse("processing instructions");
  };
  /** @param {any} _ @param {any[]} values */
  const all = (_, values) => { for (let i = 0; i < values.length; i++) enter(values[i]); };
  wrap(Node, ["appendChild", "insertBefore", "replaceChild"], all);
  for (const of of [Element, Document, DocumentFragment]) wrap(of, ["append", "prepend", "replaceChildren", "moveBefore"], all);
  for (const of of [Element, CharacterData, DocumentType]) wrap(of, ["before", "after", "replaceWith"], all);
  wrap(Element, ["insertAdjacentElement"], all);
  fix(Document.prototype, "body");
  // A window's name outlives its page, in sight of the one that was there before.
  self.name = "";
  defineProperty(self, "name", { get: () => "", set() {}, configurable: false });

  // What is in the page from its beginning keeps what it says: links of the <link> kind, and
  // what stands for a header. And no link opens a window, where nothing is stopped.
  const owner = getter(Attr, "ownerElement"), called = getter(Attr, "localName"), read = Element.prototype.hasAttribute;
  /** @param {any} element @param {any[]} values @param {number} [at] where the attribute's name is, which its value follows */
  const change = (element, values, at = 0) => {
    const attribute = values[at] = `${values[at]}`;
    if (matches(/^(.*:)?href$/i, attribute) && values.length > at + 1) leads(values[at + 1] = `${values[at + 1]}`);
    if (matches(/^(.*:)?(target|contenteditable)$/i, attribute)) refuse(attribute);
    const name = nameOf(element);
    if (name === "link" || name === "meta" && (matches(/^(.*:)?http-equiv$/i, attribute) || apply(read, element, ["http-equiv"]))) refuse(`another ${attribute} of <${name}>`);
  };
  wrap(Element, ["setAttribute", "toggleAttribute"], change);
  wrap(Element, ["setAttributeNS"], (element, values) => change(element, values, 1));
  for (const [of, names] of /** @type {[any, string[]][]} */ ([[Element, ["setAttributeNode", "setAttributeNodeNS"]], [NamedNodeMap, ["setNamedItem", "setNamedItemNS"]]])) {
    for (const name of names) delete of.prototype[name];
  }
  for (const [of, name] of /** @type {[any, string][]} */ ([[Attr, "value"], [Node, "nodeValue"], [Node, "textContent"]])) {
    const { set: write, ...kept } = /** @type {any} */ (property(of.prototype, name));
    defineProperty(of.prototype, name, {
      /** @param {any} value */
      ...kept, set(value) {
        if (typeOf(this) === ATTRIBUTE_NODE && owner(this)) {
          const values = [called(this), value];
          change(owner(this), values);
          value = values[1];
        }
        apply(write, this, [value]);
      },
    });
  }
  for (const of of [HTMLLinkElement, HTMLMetaElement]) {
    for (const name of ownKeys(of.prototype)) fix(of.prototype, String(name));
  }
  for (const list of ["relList", "sizes", "blocking"]) delete (/** @type {any} */ (HTMLLinkElement.prototype)[list]);
  for (const { prototype } of [HTMLAnchorElement, HTMLAreaElement]) {
    for (const name of ["target", "protocol", "username", "password", "host", "hostname", "port"]) fix(prototype, name);
    const { set: write, ...kept } = /** @type {any} */ (property(prototype, "href"));
    defineProperty(prototype, "href", {
      /** @param {any} value */
      ...kept, set(value) {
        const href = `${value}`;
        leads(href);
        apply(write, this, [href]);
      },
    });
  }
  fix(SVGAnimatedString.prototype, "baseVal");
  fix(HTMLElement.prototype, "contentEditable");
  fix(Document.prototype, "designMode");
  const typed = getter(Event, "type"), button = getter(MouseEvent, "button"), keys = ["ctrlKey", "metaKey", "shiftKey", "altKey"].map((key) => getter(MouseEvent, key));
  wrap(EventTarget, ["dispatchEvent"], (_, values) => {
    if (!matches(/^(aux)?click$/, typed(values[0]))) return;
    let other = button(values[0]) !== 0;
    for (let i = 0; i < keys.length; i++) other ||= keys[i](values[0]);
    if (other) refuse("clicks of a script's that open a window");
  });

  // Text becomes elements in one place, go-app's icons. A browser that knows trusted
  // types asks this policy wherever text would; in others, that place asks it.
  const drawing = /^(<\/?(svg|path)( [a-z-]+="[^"<>]*")*\/?>)*$/i;
  const text = {
    /** @param {string} html */
    createHTML: (html) => matches(drawing, html) ? html : refuse("HTML from text"),
    // Workers start from a text of ours (clipscope.js), the service worker from its file. What is
    // returned is the address that was looked at, whatever the page's own becomes.
    /** @param {string} url */
    createScriptURL: (url) => {
      const at = address(new URL(url, base(document)));
      return matches(/^blob:/, at) || at === worker ? at : refuse("scripts from elsewhere");
    },
  };
  const worker = new URL("../app-worker.js", /** @type {HTMLScriptElement} */ (document.currentScript).src).href;
  const { trustedTypes } = /** @type {any} */ (self);
  trustedTypes?.createPolicy("default", text);
  const inner = /** @type {any} */ (property(Element.prototype, "innerHTML"));
  for (const of of /** @type {any[]} */ ([Document, Document.prototype, Element.prototype, ShadowRoot.prototype, DocumentFragment.prototype, Range.prototype])) {
    for (const name of ownKeys(of)) {
      if (!/HTML|^(open|write|writeln|execCommand|cookie|createContextualFragment)$/.test(String(name))) continue;
      if (property(of, name)?.set) fix(of, String(name)); // it may still be read
      else if (name !== "getHTML") delete of[name];
    }
  }
  defineProperty(Element.prototype, "innerHTML", trustedTypes ? inner : {
    /** @param {unknown} html */
    ...inner, set(html) { apply(inner.set, this, [text.createHTML(`${html}`)]); },
  });

  // Nothing but the person before the page takes it to another site, and nobody to what is
  // no site, such as a text of the page's: the page that would be there has its policy and
  // no guard. What is saved goes by a link to a text. go-app would open a window for a link to
  // another site that a person clicks, and never hears of it; but it would end if it did not
  // find open.
  self.open = () => null;
  self.opener = null;
  const targetOf = getter(Event, "target"), { closest } = Element.prototype, goes = getter(HTMLAnchorElement, "href");
  const { preventDefault, stopImmediatePropagation } = Event.prototype;
  // What a person types, pastes or drops stays in a control, and no page of another origin is
  // heard, which could be answered: of those around, embed.js sees to it.
  for (const type of ["beforeinput", "paste", "drop"]) addEventListener(type, (e) => {
    const target = targetOf(e);
    if (typeOf(target) !== ELEMENT_NODE || !matches(/^(input|textarea)$/, nameOf(target))) apply(preventDefault, e, []);
  }, true);
  const said = getter(MessageEvent, "origin");
  if (!self.clipscopeFrame) for (const type of ["message", "messageerror"]) addEventListener(type, (e) => {
    if (said(e) !== here) apply(stopImmediatePropagation, e, []);
  }, true);
  addEventListener("click", (e) => {
    const link = e.isTrusted && typeOf(targetOf(e)) === ELEMENT_NODE && apply(closest, targetOf(e), ["a[href]"]);
    if (!link) return;
    const url = new URL(goes(link), here);
    if (matches(/^https?:$/, protocolOf(url)) && originOf(url) !== here) apply(stopImmediatePropagation, e, []);
  }, true);
  // Who hears of a navigation before the guard could keep it from the guard: the guard is the
  // first that hears of it, and the last that can ask to.
  const { navigation, NavigateEvent, NavigationDestination } = /** @type {any} */ (self);
  delete (/** @type {any} */ (self)).navigation;
  if (!navigation) return;
  const byPerson = getter(NavigateEvent, "userInitiated"), to = getter(NavigateEvent, "destination"), urlOf = getter(NavigationDestination, "url"), saved = getter(NavigateEvent, "downloadRequest");
  navigation.addEventListener("navigate", (/** @type {any} */ e) => {
    const url = new URL(urlOf(to(e))), protocol = protocolOf(url), own = originOf(url) === here;
    if (matches(/^https?:$/, protocol) ? own || byPerson(e) : protocol === "blob:" && own && saved(e) !== null) return;
    apply(preventDefault, e, []);
  }, true);
})();
