// Visits the site over a slow line, for the first time and again, and prints what it
// took: bytes, when something was drawn, when the trainer answered, tasks longer than
// 50 ms on the page's thread.
//
//	node web/bench/visits.mjs [megabits per second] [milliseconds there and back]
import { controlled, counted, launch, ready, serve, wide } from "../e2e/browser.mjs";

const [rate = 1.6, latency = 150] = process.argv.slice(2).map(Number);
const server = await serve(), way = await counted(server.url), browser = await launch();
const context = await browser.newContext({ viewport: wide });
for (const visit of ["first", "second"]) {
  const page = await context.newPage(), devtools = await context.newCDPSession(page), before = way.bytes();
  await devtools.send("Network.enable");
  await devtools.send("Network.emulateNetworkConditions", { offline: false, latency, downloadThroughput: rate * 1e6 / 8, uploadThroughput: rate * 1e6 / 8 });
  await page.addInitScript(() => {
    const tasks = [];
    Object.assign(window, { tasks });
    new PerformanceObserver((list) => { for (const e of list.getEntries()) tasks.push(e.duration); }).observe({ type: "longtask", buffered: true });
  });
  await page.goto(way.url, { waitUntil: "commit" });
  await page.waitForFunction(() => document.querySelector("#act-start:not(:disabled)"));
  const enabled = await page.evaluate(() => performance.now());
  await ready(page);
  const seen = await page.evaluate(() => ({
    painted: performance.getEntriesByName("first-contentful-paint")[0]?.startTime, answers: performance.now(),
    tasks: /** @type {any} */ (window).tasks.map(Math.round),
  }));
  const say = (name, value, unit) => console.log(`BENCH visit-${visit}-${name} ${Math.round(value)} ${unit}`);
  say("first-contentful-paint", seen.painted, "ms");
  say("controls", enabled, "ms");
  say("trainer", seen.answers, "ms");
  say("long-tasks", seen.tasks.length, "tasks");
  say("long-tasks-sum", seen.tasks.reduce((a, b) => a + b, 0), "ms");
  say("longest-task", Math.max(0, ...seen.tasks), "ms");
  say("bytes", way.bytes() - before, "B");
  await controlled(page);
  say("bytes-with-what-is-kept", way.bytes() - before, "B");
  await page.close();
}
await browser.close();
way.close();
server.close();
