// How long a first visit takes on a line of 10 Mbit/s and 40 ms, of what `make site`
// writes, and what goes over the line: from a host that sends the headers, and from one
// that sends none, where the page isolates itself. The line is a way to the server of our
// own: the browser throttles no service worker.
//
//	node load.mjs [SITE] [RUNS]
import { once } from "node:events";
import http from "node:http";
import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { controlled, launch, serve } from "../e2e/browser.mjs";
import { median } from "./report.mjs";

const [site = "dist", runs = "5"] = process.argv.slice(2);
const server = await serve("-out", site), browser = await launch();

/** @param {{ address(): any }} s */
const urlOf = (s) => `http://127.0.0.1:${s.address().port}/`;

// later has what is to be done at some time done in the order in which it is said,
// which timers alone do not keep to.
function later() {
  let last = Promise.resolve();
  return (/** @type {number} */ at, /** @type {() => void} */ f) => {
    last = last.then(async () => {
      const wait = at - performance.now();
      if (wait > 0) await sleep(wait);
      f();
    });
  };
}

// slow is a line to a server: it takes some time there and back, as does to connect,
// and all connections share what it carries.
/** @param {string} url */
async function slow(url) {
  const oneWay = 20, bytesPerMs = 10e6 / 8 / 1000;
  let bytes = 0, free = 0;
  const line = net.createServer((near) => {
    const far = net.connect(Number(new URL(url).port), "127.0.0.1"), connected = performance.now() + 2 * oneWay;
    const there = later(), back = later();
    for (const end of [near, far]) end.on("error", () => { near.destroy(); far.destroy(); });
    near.on("data", (b) => there(Math.max(connected, performance.now()) + oneWay, () => { far.write(b); }));
    near.on("end", () => there(0, () => { far.end(); }));
    far.on("data", (all) => {
      for (let at = 0; at < all.length; at += 8192) {
        const b = all.subarray(at, at + 8192);
        bytes += b.length;
        free = Math.max(free, performance.now()) + b.length / bytesPerMs;
        back(free + oneWay, () => { near.write(b); });
      }
    });
    far.on("end", () => back(0, () => { near.end(); }));
  });
  await once(line.listen(0, "127.0.0.1"), "listening");
  return { url: urlOf(line), bytes: () => bytes, close: () => line.close() };
}

// plain sends what the server does without its headers, and lets it be kept for ten
// minutes, as GitHub Pages does.
const kept = new Set(["content-type", "content-length", "content-encoding", "etag", "vary"]);
const plain = http.createServer((req, res) => {
  http.get(new URL(String(req.url), server.url), { headers: req.headers }, (answer) => {
    const headers = Object.fromEntries(Object.entries(answer.headers).filter(([name]) => kept.has(name)));
    res.writeHead(Number(answer.statusCode), { ...headers, "Cache-Control": "max-age=600" });
    answer.pipe(res);
  });
});
await once(plain.listen(0, "127.0.0.1"), "listening");

for (const [host, url] of [["headers", server.url], ["no headers", urlOf(plain)]]) {
  /** @type {Record<string, number[]>} */
  const all = { drawn: [], "page answers": [], "run can start": [], "MB": [] };
  for (let i = 0; i < Number(runs); i++) {
    const line = await slow(url), context = await browser.newContext();
    const page = await context.newPage();
    const begun = performance.now();
    await page.goto(line.url, { waitUntil: "commit" });
    await page.waitForFunction(() => document.querySelector("#loading[hidden]"), null, { polling: 20 });
    all["page answers"].push(performance.now() - begun);
    await page.waitForFunction(() => document.querySelector("#act-start:not(:disabled, [aria-disabled=true])"), null, { polling: 20 });
    all["run can start"].push(performance.now() - begun);
    all.drawn.push(await page.evaluate(() => performance.timeOrigin + performance.getEntriesByName("first-contentful-paint")[0].startTime) - performance.timeOrigin - begun);
    await controlled(page);
    all.MB.push(line.bytes() / 1e6);
    if (!await page.evaluate(() => crossOriginIsolated)) console.log("not isolated");
    await context.close();
    line.close();
  }
  for (const [name, list] of Object.entries(all)) console.log(host.padEnd(12), name.padEnd(14), name === "MB" ? median(list).toFixed(2) : `${Math.round(median(list))} ms`);
}
await browser.close();
server.close();
plain.closeAllConnections();
plain.close();
