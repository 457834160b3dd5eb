// What can leave the page. Every way that we know of (ways.mjs) is tried in both
// browsers, against listeners outside the page's origin, and docs/connections.md is
// held to what arrives.
import assert from "node:assert/strict";
import dgram from "node:dgram";
import { once } from "node:events";
import fs from "node:fs";
import http from "node:http";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually, listening, profiled, root, serve } from "./browser.mjs";
import { launchFirefox, missing } from "./firefox.mjs";
import { departures, inServiceWorker, inWorker, requests } from "./ways.mjs";

const ways = [requests, inWorker, inServiceWorker, departures].flatMap(Object.keys);

// Each way is tried five times: on a bare page, where it must arrive or the browser
// has no such way; with the policy alone, as a host without headers sends it; with
// all headers, and no guard; with the guard, and no headers; and with everything.
const settings = ["bare", "policy", "headers", "guard", "all"];

// Of these a listener hears nothing: the browser looks the name up, and no more. (Chromium has
// no QUIC here, and asks for a key's other sites by https alone.)
const lookedUp = (/** @type {string} */ way) => /dns-prefetch|link that nobody clicks|WebTransport|^key: /.test(way);

// These Firefox may put off until long after: it prefetches when nothing else is to be done,
// and asks for keys where its window has the focus, for one page at a time.
const putOff = (/** @type {string} */ way) => way === "prefetch" || way.startsWith("key: ");

// TRIED is "yes" where a page has tried, or is gone to one from a text.
const TRIED = `location.protocol === "blob:" ? "yes" : document.documentElement.dataset.tried`;

const leaves = (cell) => cell === "open" || cell === "host only";

// arrives says of each setting where the table lets something arrive.
const arrives = {
  bare: (cell) => cell !== "–",
  policy: (cell) => cell !== "–" && cell !== "policy",
  headers: (cell) => cell === "guard" || leaves(cell),
  guard: (cell) => cell === "headers" || leaves(cell),
  all: leaves,
};

// listen waits for a way: a connection is "host", for the name was looked up at
// least, and what is sent on it "data".
/** @param {string} name of its host @returns {Promise<any>} */
async function listen(name) {
  const opened = new Set(), sent = new Set(), /** @type {Set<net.Socket>} */ sockets = new Set();
  const close = () => {
    for (const socket of sockets) socket.destroy();
    return Promise.all([once(tcp.close(), "close"), once(udp.close(), "close")]);
  };
  const heard = { get level() { return sent.size > 0 ? "data" : opened.size > 0 ? "host" : ""; }, close };
  const tcp = net.createServer((socket) => {
    opened.add(socket);
    sockets.add(socket.once("close", () => sockets.delete(socket)));
    socket.on("error", () => {});
    socket.on("data", (data) => {
      // The page of another test may look for its host, which had this port before.
      const asked = data.toString("latin1").match(/^Host: *([^:\r]*)/im)?.[1];
      if (asked && asked !== `${name}.localhost`) opened.delete(socket);
      else sent.add(socket);
      socket.end("HTTP/1.1 204 No Content\r\nAccess-Control-Allow-Origin: *\r\nConnection: close\r\n\r\n");
    });
  });
  const udp = dgram.createSocket("udp4").on("message", () => sent.add(udp));
  await once(tcp.listen(0, "127.0.0.1"), "listening");
  const { port } = /** @type {net.AddressInfo} */ (tcp.address());
  udp.bind(port, "127.0.0.1");
  try {
    await once(udp, "listening");
  } catch { // another program has the port
    await close();
    return listen(name);
  }
  const host = `${name}.localhost:${port}`;
  return { heard, to: { http: `http://${host}/?secret`, https: `https://${host}/?secret`, ws: `ws://${host}/?secret`, host, port } };
}

// attempts is the site in one setting, with a page that tries. It has a listener for
// every way.
/** @param {import("node:test").TestContext} t @param {string} setting */
async function attempts(t, setting) {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), "clipscope-ways-"));
  t.after(() => fs.rmSync(dir, { recursive: true }));
  const heard = {}, to = {};
  for (const [i, way] of ways.entries()) {
    ({ heard: heard[way], to: to[way] } = await listen(`${setting}${i}`));
    t.after(() => heard[way].close());
  }
  /** @param {string} name @param {string | ((text: string) => string)} text */
  const write = (name, text) => {
    const file = path.join(dir, name);
    fs.writeFileSync(file, typeof text === "string" ? text : text(fs.readFileSync(file, "utf8")));
  };
  const trying = '<script type="module" src="tries.mjs"></script>';
  const there = (base) => `Promise.all(["ways", "to"].map((n) => import(new URL(n + ".mjs", ${base})))).then(([ways, to]) => ways.go(ways.inWorker, to.default));`;
  const serving = `self.addEventListener("activate", () => { const to = ${JSON.stringify(to)};
    ${Object.entries(inServiceWorker).map(([way, f]) => `(${f})(to[${JSON.stringify(way)}]);`).join("\n")} });`;
  if (setting === "bare") {
    write("index.html", `<!doctype html><link rel="stylesheet" href="bare.css"><meta name="bare"><body>${trying}`);
    fs.copyFileSync(path.join(dir, "index.html"), path.join(dir, "leave.html"));
    write("bare.css", "");
    write("app-worker.js", serving);
    write("worker.js", there("location"));
    write("bare.mjs", `navigator.serviceWorker.register("app-worker.js"); new Worker("worker.js");`);
  } else {
    fs.cpSync(path.join(root, "dist"), dir, { recursive: true });
    write("index.html", (text) => text.replace("</body>", trying + "$&"));
    // Who leaves needs no more of the page than its policy and its guard.
    fs.copyFileSync(path.join(dir, "index.html"), path.join(dir, "leave.html"));
    write("leave.html", (text) => text.replace(/<script (?!src="\/web\/guard)[^>]*><\/script>/g, "").replace(/<body>[^]*<\/body>/, `<body>${trying}</body>`));
    write("web/trainer-worker.js", (text) => text + there(`new URL("..", scripts[0])`));
    write("app-worker.js", (text) => text + serving);
    write("bare.mjs", "");
    // Without the guard somebody must be asked where text becomes code.
    if (setting !== "guard" && setting !== "all") write("web/guard.js", `self.document && self.trustedTypes?.createPolicy("default", { createHTML: (s) => s, createScriptURL: (s) => s });`);
    // The page stays as it is without headers, as where it is in use: it has been loaded again.
    if (setting === "policy" || setting === "guard") write("web/guard.js", (text) => text + `\nself.document && sessionStorage.setItem("clipscope-reloaded", "yes");`);
  }
  fs.copyFileSync(path.join(root, "web/e2e/ways.mjs"), path.join(dir, "ways.mjs"));
  // A file of the site that would do as it is told, if it were not under the policy.
  write("ways-worker.js", `self.onmessage = (e) => fetch(e.data.http, { mode: "no-cors" }); self.onconnect = (e) => { e.ports[0].onmessage = self.onmessage; };`);
  fs.mkdirSync(path.join(dir, "ways"));
  fs.copyFileSync(path.join(dir, "ways-worker.js"), path.join(dir, "ways/app-worker.js"));
  write("to.mjs", `export default ${JSON.stringify(to)};`);
  write("tries.mjs", `import "./bare.mjs"; import to from "./to.mjs"; import { departures, go, requests } from "./ways.mjs";
    const way = new URLSearchParams(location.search).get("way");
    addEventListener("load", () => setTimeout(async () => {
      go(way ? { [way]: departures[way] } : requests, to);
      if (!way) await navigator.serviceWorker.register("app-worker.js").catch(() => {}); // the page would, once its program runs
      document.documentElement.dataset.tried = "yes";
    }));`);
  const host = setting === "headers" || setting === "all" ? await serve("-out", dir) : await plain(dir);
  t.after(host.close);
  const site = host.url.replace("127.0.0.1", "localhost"); // a domain, as keys want one
  // The service worker, which comes with the last page, knows none that leaves.
  const pages = Object.keys(departures).map((way) => ({ leaves: way, url: site + "leave.html?way=" + encodeURIComponent(way) }));
  return { heard, to, pages: [...pages, { leaves: "", url: site }] };
}

// plain is a host that sends no headers of its own.
async function plain(dir) {
  const types = { ".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css", ".wasm": "application/wasm" };
  const server = http.createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://host");
    const at = path.join(dir, pathname), name = fs.statSync(at, { throwIfNoEntry: false })?.isDirectory() ? path.join(at, "index.html") : at;
    const found = fs.existsSync(name);
    response.writeHead(found ? 200 : 404, { "Content-Type": types[path.extname(name)] ?? "text/plain" }).end(found ? fs.readFileSync(name) : "");
  });
  const { origin, close } = await listening(server);
  return { url: origin + "/", close };
}

// documented is the table of docs/connections.md for a browser: what it says of each
// way, and of which version.
/** @param {string} browser */
function documented(browser) {
  const rows = fs.readFileSync(path.join(root, "docs/connections.md"), "utf8").split("\n")
    .filter((line) => line.startsWith("| ")).map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()));
  const head = rows.find(([first]) => first === "way"), column = head.findIndex((cell) => cell.startsWith(browser));
  return { version: head[column].split(" ")[1], cells: Object.fromEntries(rows.filter((row) => row.length === head.length && row !== head && !/^-+$/.test(row[0])).map((row) => [row[0], row[column]])) };
}

// verdict says what refuses a way, of what arrived in each setting.
/** @param {Record<string, string>} level */
function verdict(level) {
  if (!level.bare) return "–";
  if (level.all) return level.all === "host" ? "host only" : "open";
  if (!level.policy) return "policy";
  return ["headers", "guard"].filter((setting) => !level[setting]).join(", ") || "headers with guard";
}

// hold tries all ways in a browser, and holds the table to what arrived. visit opens a
// page and returns what asks it whether it has tried, and what closes it; end closes the
// browser and returns what says whether a name was looked up.
/** @param {any} t @param {string} browser @param {string} version @param {(url: string) => Promise<{ has(): Promise<unknown>, close(): Promise<unknown> }>} visit @param {() => Promise<(host: string) => boolean>} end */
async function hold(t, browser, version, visit, end) {
  const table = documented(browser);
  assert.deepEqual(Object.keys(table.cells), ways, "docs/connections.md lists the ways of ways.mjs");
  const tried = {};
  // expected are the ways by which something is still to arrive in a setting.
  const expected = (/** @type {string} */ setting) => ways.filter((way) => !lookedUp(way) && arrives[setting](table.cells[way]) && !tried[setting].heard[way].level);
  // A page that leaves is closed when those of the next setting have been tried, which takes
  // longer than the last setting is waited for, and not before its way has arrived where it will.
  /** @type {{ setting: string, leaves: string, close(): Promise<unknown> }[]} */
  let open = [];
  for (const setting of settings) {
    tried[setting] = await attempts(t, setting);
    const before = open;
    open = [];
    for (const { leaves, url } of tried[setting].pages) {
      const { has, close } = await visit(url);
      if (leaves) open.push({ setting, leaves, close });
      await eventually(async () => assert.equal(await has(), "yes", `nothing was tried at ${url}`));
    }
    for (const page of before) {
      if (expected(page.setting).includes(page.leaves)) open.push(page);
      else await page.close();
    }
  }
  // What will arrive is waited for; what arrives beside it had as long, and some more.
  // A service worker is the last.
  // What a browser does ahead of time it may put off for ever on the bare page, so
  // that there no more than a while is waited.
  const begun = Date.now(), late = () => settings.filter((setting) => setting !== "bare" || Date.now() - begun < 15_000).flatMap(expected);
  // Of another version than the table's it is not known what will: there it is over
  // when for a while nothing new has come.
  const [major] = version.split("."), known = major === table.version;
  const arrived = () => settings.flatMap((setting) => Object.values(tried[setting].heard)).filter((heard) => heard.level).length;
  if (known) await eventually(() => assert.deepEqual(late(), [])).catch(() => {}); // the table is held to it below
  else for (let calm = 0, n = -1; calm < 40; calm = n === (n = arrived()) ? calm + 1 : 0) await sleep(250);
  await sleep(2000); // what should not arrive tells nobody that it does not; no pause fails what stays away
  const looked = await end();
  const found = {};
  for (const way of ways) {
    const level = (setting) => tried[setting].heard[way].level || (looked(tried[setting].to[way].host.split(":")[0]) ? "host" : "");
    found[way] = verdict(Object.fromEntries(settings.map((setting) => [setting, level(setting)])));
  }
  if (!known) {
    const other = ways.filter((way) => found[way] !== table.cells[way]).map((way) => `${way}: ${found[way]} (${table.cells[way]})`);
    t.diagnostic(`the table is of ${browser} ${table.version}, this is ${version}: of a newer one only that nothing more leaves is tested. It says otherwise of ${other.join(", ") || "nothing"}`);
    // An older browser may lack what refuses a way in the one of the table.
    if (Number(major) > Number(table.version)) assert.deepEqual(ways.filter((way) => leaves(found[way]) && !leaves(table.cells[way])), []);
    return;
  }
  // What a browser does ahead of time, when it has nothing else to do, it may put off
  // on the bare page, and then it cannot be told whether it would be refused.
  const idle = ways.filter((way) => (found[way] === "–") !== (table.cells[way] === "–") && !leaves(found[way]) && !leaves(table.cells[way]));
  const unlikely = idle.filter((way) => !putOff(way));
  assert.ok(unlikely.length <= 2, `on a bare page something else arrives than the table says: ${unlikely.join(", ")}`);
  assert.deepEqual({ ...found, ...Object.fromEntries(idle.map((way) => [way, table.cells[way]])) }, table.cells);
}

test("what leaves the page in Chromium is what docs/connections.md says", async (t) => {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), "clipscope-chromium-")), log = path.join(dir, "net.json");
  const browser = await profiled(dir, "--allow-loopback-in-peer-connection", `--log-net-log=${log}`);
  await browser.grantPermissions(["notifications"]);
  t.after(() => browser.close());
  t.after(() => fs.rmSync(dir, { recursive: true }));
  await hold(t, "Chromium", browser.browser().version(), async (url) => {
    const page = await browser.newPage(), pages = [page];
    page.on("popup", (opened) => pages.push(opened));
    await page.goto(url, { waitUntil: "commit" });
    return { has: () => page.evaluate(TRIED), close: () => Promise.all(pages.map((page) => page.close())) };
  }, async () => {
    await browser.close();
    const asked = [...new Set(fs.readFileSync(log, "utf8").match(/"host":"[^"]*"/g))].join("\n");
    return (host) => new RegExp(`\\b${host}\\b`).test(asked);
  });
});

test("what leaves the page in Firefox is what docs/connections.md says", { skip: missing }, async (t) => {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), "clipscope-log-"));
  const browser = await launchFirefox({ "media.peerconnection.ice.loopback": true, "dom.disable_open_during_load": false, "permissions.default.desktop-notification": 1 },
    { MOZ_LOG: "nsHostResolver:5", MOZ_LOG_FILE: path.join(dir, "net.log") });
  t.after(() => browser.close());
  t.after(() => fs.rmSync(dir, { recursive: true }));
  await hold(t, "Firefox", browser.version, async (url) => {
    const close = await browser.visit(url);
    return { has: () => browser.evaluate("return " + TRIED), close };
  }, async () => {
    await browser.close();
    const asked = new Set(fs.readdirSync(dir).flatMap((name) => fs.readFileSync(path.join(dir, name), "latin1").match(/\[[\w.]+\]/g) ?? []));
    return (host) => asked.has(`[${host}]`);
  });
});
