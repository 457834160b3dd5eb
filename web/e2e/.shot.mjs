import { launch, open } from "./browser.mjs";
const url = process.env.URL ?? "http://127.0.0.1:8123/";
const b = await launch();
const c = await b.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: process.env.SCHEME ?? "light", serviceWorkers: "block" });
const p = await open(c, url);
p.on("console", m => console.log(m.type(), m.text()));
await p.waitForTimeout(2500);
await p.screenshot({ path: "/tmp/shots/idle.png" });
await p.click("#act-start");
await p.waitForTimeout(2000);
await p.screenshot({ path: "/tmp/shots/running.png" });
for (let i = 0; i < 60; i++) { if (await p.locator("#result").count()) break; await p.waitForTimeout(1000); }
await p.waitForTimeout(500);
await p.screenshot({ path: "/tmp/shots/done.png" });
console.log(p.errors, await p.locator(".progress").innerText());
await b.close();
