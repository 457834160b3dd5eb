// What a script that got into the page once would do so that it stays, and how it would get
// past the guard: both browsers.
import assert from "node:assert/strict";
import http from "node:http";
import path from "node:path";
import { test } from "node:test";
import { controlled, eventually, host, listening, ready, root, stage } from "./browser.mjs";
import { missing, sharedFirefox } from "./firefox.mjs";

const { alone } = await stage();
const firefox = sharedFirefox({});

/** @type {Record<string, { skip: string | false, visit(t: any, url: string): Promise<any> }>} */
const browsers = {
  Chromium: { skip: false, async visit(t, url) {
    const page = await (await alone(t, { serviceWorkers: "allow" })).newPage();
    await page.goto(url, { waitUntil: "commit" });
    return page;
  } },
  Firefox: { skip: missing, visit: async (t, url) => (await firefox()).page(url, t) },
};

// listener is a site of another origin, which lists what it is asked.
/** @param {any} t */
async function listener(t) {
  /** @type {string[]} */
  const asked = [];
  const { origin, close } = await listening(http.createServer((req, res) => {
    asked.push(`${req.method} ${req.url}`);
    res.writeHead(200, { "Access-Control-Allow-Origin": "*", "Content-Type": "text/html" }).end("elsewhere");
  }));
  t.after(close);
  return { url: origin + "/", asked };
}

for (const [name, { skip, visit }] of Object.entries(browsers)) {
  test(`what a script puts into the site's caches is never served, and dropped, ${name}`, { skip }, async (t) => {
    const elsewhere = await listener(t), site = await host(t, path.join(root, "dist"), "/");
    const page = await visit(t, site.origin + "/help");
    await ready(page);
    await controlled(page);
    const before = await page.evaluate(async () => Promise.all(["/", "/guides/threats/", "/web/page.js", "/404.html"].map(async (at) => (await fetch(at)).text())));
    // What is asked for as a page, as a script, and where there is none: another text, the
    // right text with headers of the script's, an answer that leads elsewhere; and what the
    // site does not have.
    await page.evaluate(async (/** @type {string} */ to) => {
      const policy = { "Content-Security-Policy": "default-src * 'unsafe-inline'", "Content-Security-Policy-Report-Only": `img-src 'none'; report-uri ${to}report` };
      const leading = { ...policy, Refresh: `0;url=${to}refresh`, Link: `<${to}link>; rel=preconnect` };
      const sends = `fetch("${to}sent", { method: "POST", mode: "no-cors", body: "rows" });`;
      const other = () => new Response(`<!doctype html><title>Other</title><body><script>${sends}</script>`, { headers: { "Content-Type": "text/html", ...policy } });
      for (const key of [...await caches.keys(), "clipscope / another"]) {
        const cache = await caches.open(key);
        for (const at of ["/calculator/", "/guides/threats/", "/guides/hosting/", "/404.html", "/?whole", "/?seed=1", "/calculator", "/no/such/page", "/web/other.html"]) await cache.put(at, other());
        for (const at of ["/", "/help/", "/web/early.js"]) await cache.put(at, new Response(await (await fetch(at)).text(), { headers: { "Content-Type": at.endsWith("js") ? "text/javascript" : "text/html", ...leading } }));
        await cache.put("/check/", Response.redirect(to + "redirect"));
        await cache.put("/web/page.js", new Response(sends + await (await fetch("/web/page.js")).text(), { headers: { "Content-Type": "text/javascript" } }));
        await cache.put("/web/trainer-worker.js", new Response("", { status: 404 }));
        await cache.put("/lab/", new Response(await (await fetch("/lab/")).text(), { status: 500, headers: { Vary: "Accept", ...leading } }));
      }
    }, elsewhere.url);
    const texts = await page.evaluate(async () => Promise.all(["/", "/guides/threats/", "/web/page.js", "/404.html"].map(async (at) => (await fetch(at)).text())));
    assert.deepEqual(texts.map((/** @type {string} */ text, /** @type {number} */ i) => text === before[i]), [true, true, true, true]);
    for (const at of ["/calculator", "/", "/check", "/lab", "/help", "/?seed=1"]) {
      await page.goto(site.origin + at);
      await ready(page);
    }
    for (const at of ["/guides/threats/", "/guides/hosting/", "/no/such/page"]) {
      await page.goto(site.origin + at);
      await eventually(async () => assert.match(await page.evaluate(() => document.title), /Threats|Hosting|No such page/));
    }
    const headers = await page.evaluate(async () => Promise.all(["/", "/calculator/", "/lab/", "/web/early.js", "/web/app.wasm", "/web/assets/icon.svg"].map(async (at) => {
      const { status, headers } = await fetch(at);
      return [status, ...["Content-Type", "Content-Security-Policy", "Content-Security-Policy-Report-Only", "Link", "Refresh"].map((h) => headers.get(h))];
    })));
    const policy = headers[0][2];
    assert.match(policy, /^default-src 'none'; .*sandbox/);
    assert.deepEqual(headers.map(([status, type, ...others]) => [status, type.split(";")[0], ...others]),
      ["text/html", "text/html", "text/html", "text/javascript", "application/wasm", "image/svg+xml"].map((type) => [200, type, policy, null, null, null]));
    // What is not the site's is dropped once a page has been there.
    await page.goto(site.origin + "/");
    await ready(page);
    await eventually(async () => {
      const foreign = await page.evaluate(async (/** @type {string} */ sent) => {
        const cache = await caches.open((await caches.keys()).find((key) => key !== "clipscope / another") ?? "");
        const found = [];
        for (const { url } of await cache.keys()) {
          const { pathname, search } = new URL(url), stored = await (await cache.match(url, { ignoreVary: true }))?.text();
          if (search !== "?whole" && (search || /other|such|calculator$/.test(pathname) || stored?.includes(sent))) found.push(url);
        }
        return found;
      }, elsewhere.url + "sent");
      assert.deepEqual(foreign, []);
    });
    assert.deepEqual(elsewhere.asked, []);
    // Without a network all that was replaced is there again.
    await site.close();
    await page.goto(site.origin + "/calculator");
    await ready(page);
    assert.ok(await page.evaluate(() => crossOriginIsolated));
  });
}

test("what is written to the cache while a file is read is not served", async (t) => {
  const site = await host(t, path.join(root, "dist"), "/");
  const page = await browsers.Chromium.visit(t, site.origin + "/help");
  await ready(page);
  await controlled(page);
  const served = await page.evaluate(async () => {
    const [key] = await caches.keys(), cache = await caches.open(key), right = await (await fetch("/web/page.js")).text(), /** @type {Set<string>} */ seen = new Set();
    let over = false;
    const writing = (async () => {
      for (let i = 0; !over; i++) await cache.put("/web/page.js", new Response(i % 2 ? right : right + "// more", { headers: { "Content-Type": "text/javascript" } }));
    })();
    for (let i = 0; i < 200; i++) seen.add(await (await fetch("/web/page.js")).text());
    over = true;
    await writing;
    return [...seen].map((text) => text === right);
  });
  assert.deepEqual(served, [true]);
});

// entries calls every method and every setter of whatever holds nodes, with a frame, or with
// text of one, in every place; and returns those after which the frame has a parent, or a
// tree has a frame below its root. It runs in a page.
function entries() {
  const html = "http://www.w3.org/1999/xhtml", text = "<p><iframe></iframe></p>";
  const box = document.body.appendChild(document.createElement("div"));
  const made = (/** @type {string} */ name, space = html) => box.appendChild(document.createElementNS(space, name));
  const select = /** @type {HTMLSelectElement} */ (made("select")), table = made("table"), p = made("p"), range = document.createRange();
  select.append(document.createElement("option"));
  table.append(document.createElement("tbody"));
  const word = p.appendChild(document.createTextNode("word"));
  const holders = [p, word, p.appendChild(document.createComment("")), select, select.options, table, made("details"), made("dialog"), made("textarea"), made("input"), made("a"),
    made("svg", "http://www.w3.org/2000/svg"), document.createDocumentFragment(), document.createElement("template"), made("div").attachShadow({ mode: "open" }),
    range, document.getSelection(), document.implementation, document.implementation.createHTMLDocument(), document.implementation.createDocument(html, "p"), document,
    Document, Range, Element, .../** @type {any[]} */ (["DOMParser", "XSLTProcessor", "Sanitizer"]).flatMap((name) => name in self ? [new (Object(self)[name])()] : [])];
  const tried = new Set(), /** @type {Set<string>} */ found = new Set();
  let calls = 0;
  const holds = (/** @type {any} */ v) => v instanceof Node && Boolean(/** @type {any} */ (v).querySelector?.("iframe"));
  for (const holder of holders) {
    for (let of = /** @type {any} */ (holder); of && of !== Object.prototype && of !== Function.prototype; of = Object.getPrototypeOf(of)) {
      for (const name of Reflect.ownKeys(of).map(String)) {
        const property = Object.getOwnPropertyDescriptor(of, name);
        if (!property || tried.has(property.value ?? property.set) || /^(write|writeln|open|close|constructor|caller|arguments)$/.test(name)) continue; // those that end the page are looked for below
        tried.add(property.value ?? property.set);
        const attempt = (/** @type {(frame: any) => any} */ f) => {
          const frame = document.implementation.createDocument(html, "iframe").documentElement, own = frame.parentNode;
          range.selectNodeContents(p);
          calls++;
          let got;
          try { got = f(frame); } catch { /* refused, or of another kind */ }
          if (got instanceof Promise) got.catch(() => {});
          if (self.length > 0 || frame.parentNode && frame.parentNode !== own || holds(got) || holds(holder) || holds(box)) found.add(`${of.constructor?.name ?? ""}.${name}`);
          frame.remove();
          for (const e of [document, box, .../** @type {any[]} */ (holder instanceof Node ? [holder] : [])]) for (const left of e.querySelectorAll?.("iframe") ?? []) left.remove();
          if (word.parentNode !== p) p.prepend(word);
          for (const e of [p, select, table]) if (e.parentNode !== box) box.append(e);
          if (box.parentNode !== document.body) document.body.append(box);
        };
        if (property.set) for (const value of [null, text]) attempt((frame) => { Reflect.apply(property.set, holder, [value ?? frame]); });
        if (typeof property.value !== "function") continue;
        for (const [before, after] of [[[], [null]], [[], [word]], [[], ["text/html"]], [[word], []], [["beforeend"], []], [["insertHTML", false], []]]) {
          for (const value of [null, text]) attempt((frame) => Reflect.apply(property.value, holder, [...before, value ?? frame, ...after]));
        }
      }
    }
  }
  box.remove();
  return { calls, found: [...found].sort(), there: ["write", "writeln", "open"].filter((name) => name in document), page: document.querySelectorAll("main").length };
}

for (const [name, { skip, visit }] of Object.entries(browsers)) {
  test(`nothing that the browser has puts a frame into a tree, ${name}`, { skip }, async (t) => {
    const { origin } = await host(t, path.join(root, "dist"), "/");
    // Without the guard it finds what there is; without trusted types, which are the policy's, in text, too.
    const open = await listening(http.createServer((_, res) => { res.writeHead(200, { "Content-Type": "text/html" }).end("<!doctype html><title>Open</title><main></main>"); }));
    t.after(open.close);
    const bare = await visit(t, open.origin);
    await eventually(async () => assert.equal(await bare.evaluate(() => document.readyState), "complete"));
    const without = await bare.evaluate(entries);
    const known = ["Node.appendChild", "Node.insertBefore", "Node.replaceChild", "Element.append", "Element.insertAdjacentElement", "Element.insertAdjacentHTML", "Element.innerHTML", "Element.replaceWith", "Element.setHTMLUnsafe",
      "CharacterData.after", "DocumentFragment.prepend", "ShadowRoot.innerHTML", "Range.insertNode", "Range.surroundContents", "Range.createContextualFragment", "DOMParser.parseFromString"];
    assert.deepEqual(known.filter((entry) => !without.found.includes(entry)), []);
    t.diagnostic(`${without.calls} calls, ${without.found.length} ways into a tree without the guard: ${without.found.join(" ")}`);
    const page = await visit(t, origin + "/help");
    await ready(page);
    const within = await page.evaluate(entries);
    assert.ok(within.calls > 3000, `${within.calls} calls`);
    assert.deepEqual([within.found, within.there, within.page], [[], [], 1]);
  });
}

test("a page that opened this one hears nothing of it, and no cookie is left, on a host without headers", async (t) => {
  const site = await host(t, path.join(root, "dist"), "/"), elsewhere = await listener(t);
  const context = await alone(t, { serviceWorkers: "block" }), page = await context.newPage();
  await page.goto(elsewhere.url);
  const opened = context.waitForEvent("page");
  await page.evaluate((/** @type {string} */ url) => {
    Object.assign(window, { told: [] });
    addEventListener("message", (e) => Object(window).told.push(e.data));
    Object.assign(window, { opened: window.open(url) });
  }, site.origin + "/help");
  const popup = await opened;
  await ready(popup);
  const has = await popup.evaluate((/** @type {string} */ url) => {
    const opener = self.opener;
    opener?.postMessage("rows", "*");
    if (opener) opener.location = url + "rows";
    document.cookie = "rows=1; path=/";
    addEventListener("message", (e) => {
      e.source?.postMessage("rows", { targetOrigin: "*" });
      e.ports[0]?.postMessage("rows");
    }, true);
    addEventListener("message", (e) => { if (e.data === "own") document.documentElement.dataset.own = "heard"; });
    addEventListener("messageerror", (e) => { e.source?.postMessage("rows", { targetOrigin: "*" }); }, true);
    return [Boolean(opener), "cookieStore" in self];
  }, elsewhere.url);
  assert.deepEqual(has, [false, false]);
  await page.evaluate(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = (e) => Object(window).told.push(e.data);
    Object(window).opened.postMessage("say", "*", [port2]);
  });
  await popup.evaluate(() => postMessage("own", "*")); // the page's own is heard, after the other
  await eventually(async () => assert.equal(await popup.evaluate(() => document.documentElement.dataset.own), "heard"));
  await page.evaluate(() => new Promise((resolve) => { // an answer would be here before this one
    addEventListener("message", (e) => { if (e.data === "last") resolve(undefined); });
    postMessage("last", "*");
  }));
  assert.deepEqual((await page.evaluate(() => Object(window).told)).filter((/** @type {string} */ told) => told !== "last"), []);
  assert.deepEqual(elsewhere.asked.filter((asked) => asked.includes("rows")), []);
  assert.deepEqual(await context.cookies(), []);
});

for (const [name, { skip, visit }] of Object.entries(browsers)) {
  test(`no listener keeps the guard from hearing where the page goes, and no name of the window stays, ${name}`, { skip }, async (t) => {
    const elsewhere = await listener(t), { origin } = await host(t, path.join(root, "dist"), "/");
    const page = await visit(t, origin + "/help");
    await ready(page);
    const left = await page.evaluate(async (/** @type {string} */ to) => {
      for (const stop of [(/** @type {Event} */ e) => e.stopImmediatePropagation(), (/** @type {Event} */ e) => e.stopPropagation(), (/** @type {Event} */ e) => { e.cancelBubble = true; }]) {
        /** @type {any} */ (self).navigation?.addEventListener("navigate", stop, true);
      }
      location.href = to + "rows";
      const a = document.body.appendChild(document.createElement("a"));
      try { a.href = to + "rows"; } catch { /* refused */ }
      a.click();
      a.remove();
      window.name = "rows";
      for (let i = 0; i < 9; i++) await fetch("/help/", { cache: "no-store" }); // a page that goes ends before
      return window.name;
    }, elsewhere.url);
    assert.equal(left, "");
    assert.equal(await page.evaluate(() => location.pathname), "/help");
    assert.deepEqual(elsewhere.asked, []);
  });
}

test("a person's paste brings text into a control, and nothing anywhere else", async (t) => {
  const site = await host(t, path.join(root, "dist"), "/");
  const page = await (await alone(t, { serviceWorkers: "block", permissions: ["clipboard-read", "clipboard-write"] })).newPage();
  await page.goto(site.origin + "/help");
  await ready(page);
  const refused = await page.evaluate(() => {
    document.addEventListener("copy", (e) => {
      e.preventDefault();
      e.clipboardData?.setData("text/plain", "rows");
      e.clipboardData?.setData("text/html", "<b>rows</b><iframe></iframe>");
    }, true);
    const box = document.body.appendChild(document.createElement("div"));
    box.textContent = "text";
    Object.assign(box, { id: "box", tabIndex: 0 });
    try { box.contentEditable = "true"; } catch { /* refused */ }
    try { box.setAttribute("contentEditable", "true"); } catch { /* refused */ }
    try { document.designMode = "on"; } catch { /* refused */ }
    box.style.setProperty("-webkit-user-modify", "read-write"); // which makes it one all the same
    document.body.append(Object.assign(document.createElement("textarea"), { id: "control" }));
    box.focus();
    getSelection()?.selectAllChildren(box);
    return [box.contentEditable, document.designMode];
  });
  assert.deepEqual(refused, ["inherit", "off"]);
  await page.keyboard.press("Control+C");
  await page.keyboard.press("Control+V");
  await page.focus("#control");
  await page.keyboard.press("Control+V");
  await eventually(async () => assert.deepEqual(await page.evaluate(() => [/** @type {any} */ (document.getElementById("control")).value, document.getElementById("box")?.innerHTML, self.length]), ["rows", "text", 0]));
});
