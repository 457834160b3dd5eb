// No link in the page leads to another site: a browser may look its host up before anybody clicks it.
import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { host, ready, root, stage } from "./browser.mjs";
import { missing, sharedFirefox } from "./firefox.mjs";

const { alone } = await stage();
const firefox = sharedFirefox({});

/** @type {Record<string, { skip: string | false, visit(t: any, url: string): Promise<any> }>} */
const browsers = {
  Chromium: { skip: false, async visit(t, url) {
    const page = await (await alone(t, { serviceWorkers: "block" })).newPage();
    await page.goto(url);
    return page;
  } },
  Firefox: { skip: missing, visit: async (t, url) => (await firefox()).page(url, t) },
};

for (const [name, { skip, visit }] of Object.entries(browsers)) {
  test(`no link leads to another site, ${name}`, { skip }, async (t) => {
    const { origin } = await host(t, path.join(root, "dist"), "/"), page = await visit(t, origin + "/help");
    await ready(page);
    const left = await page.evaluate(async () => {
      const to = "https://rows.example/", html = "http://www.w3.org/1999/xhtml";
      const read = () => new Promise((resolve) => {
        const x = new XMLHttpRequest();
        x.open("GET", URL.createObjectURL(new Blob([`<p><a href="${to}">x</a></p>`], { type: "text/html" })));
        x.responseType = "document";
        x.onload = () => resolve(x.responseXML?.querySelector("p"));
        x.onerror = () => resolve(null);
        x.send();
      });
      const parsed = /** @type {any} */ (await read());
      const own = () => Object.assign(document.createElement("a"), { href: "/help" });
      /** @type {Record<string, (a: any) => any>} */
      const ways = {
        href: (a) => { a.href = to; },
        "href without a protocol": (a) => { a.href = "//rows.example/"; },
        setAttribute: (a) => a.setAttribute("HREF", to),
        setAttributeNS: (a) => a.setAttributeNS(null, "href", to),
        "setAttribute, of an object": (a) => { let n = 0; a.setAttribute("href", { toString: () => n++ ? to : "/help" }); },
        "attribute's value": (a) => { a.attributes.getNamedItem("href").value = to; },
        "attribute's text": (a) => { a.attributes.getNamedItem("href").textContent = to; },
        host: (a) => { a.host = "rows.example"; },
        hostname: (a) => { a.hostname = "rows.example"; },
        port: (a) => { a.port = "9"; },
        protocol: (a) => { a.protocol = location.protocol === "http:" ? "https:" : "http:"; },
        "another document": () => { const a = document.implementation.createDocument(html, "a").documentElement; a.setAttribute("href", to); document.body.append(a); return a; },
        "text that was read": () => { if (parsed) document.body.append(parsed); return parsed?.firstChild; },
      };
      const found = [];
      for (const [way, f] of Object.entries(ways)) {
        let a = document.body.appendChild(own());
        try { a = f(a) ?? a; } catch { /* refused */ }
        if (a?.isConnected && new URL(a.href).origin !== location.origin) found.push(way);
        a?.remove();
      }
      const same = document.body.appendChild(own());
      same.setAttribute("href", "#x");
      return { found, same: same.getAttribute("href") };
    });
    assert.deepEqual(left, { found: [], same: "#x" });
  });
}
