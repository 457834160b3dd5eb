// How long a first visit takes on a line of 10 Mbit/s and 40 ms, as Chromium
// throttles it (Network.emulateNetworkConditions: what the page fetches; its workers
// fetch 20 kB more), of what `make site` writes, and what goes over the line.
//
//	node load.mjs [SITE] [RUNS]
import { counted, launch, serve } from "../e2e/browser.mjs";

const [site = "dist", runs = "5"] = process.argv.slice(2);
const line = { offline: false, latency: 40, downloadThroughput: 10e6 / 8, uploadThroughput: 10e6 / 8 };
const server = await serve("-out", site), browser = await launch();

/** @param {number[]} list */
const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];

/** @type {Record<string, number[]>} */
const all = { drawn: [], "page answers": [], "run can start": [], "MB": [] };
for (let i = 0; i < Number(runs); i++) {
  const proxy = await counted(server.url), context = await browser.newContext();
  const page = await context.newPage(), cdp = await context.newCDPSession(page);
  await cdp.send("Network.enable");
  await cdp.send("Network.emulateNetworkConditions", line);
  const begun = performance.now();
  await page.goto(proxy.url, { waitUntil: "commit" });
  await page.waitForFunction(() => document.querySelector("#loading[hidden]"), null, { polling: 20 });
  all["page answers"].push(performance.now() - begun);
  await page.waitForFunction(() => document.querySelector("#act-start:not(:disabled, [aria-disabled=true])"), null, { polling: 20 });
  all["run can start"].push(performance.now() - begun);
  all.drawn.push(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime));
  await page.waitForFunction(() => navigator.serviceWorker.controller);
  all.MB.push(proxy.bytes() / 1e6);
  await context.close();
  proxy.close();
}
for (const [name, list] of Object.entries(all)) console.log(name.padEnd(14), name === "MB" ? median(list).toFixed(2) : `${Math.round(median(list))} ms`);
await browser.close();
server.close();
