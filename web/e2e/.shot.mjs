import { launch, open } from "./browser.mjs";
const url = process.env.URL ?? "http://127.0.0.1:8123/";
const b = await launch();
const W = +(process.env.W ?? 1280), H = +(process.env.H ?? 800), tag = process.env.TAG ?? "d";
const c = await b.newContext({ viewport: { width: W, height: H }, colorScheme: process.env.SCHEME ?? "light" });
const p = await open(c, url + (process.env.PATHX ?? ""));
p.on("console", m => console.log(m.type(), m.text()));
const shot = n => p.screenshot({ path: `/tmp/shots/${tag}-${n}.png` });
await p.waitForTimeout(2500);
for (const s of (process.env.STEPS ?? "idle,run,done").split(",")) {
  if (s === "idle") await shot("idle");
  else if (s === "run") { const t = Date.now(); await p.click("#act-start"); await p.waitForFunction(() => /step [1-9]/.test(document.querySelector(".steps").textContent)); console.log("first step shown", Date.now() - t); await p.waitForTimeout(+(process.env.WAIT ?? 1500)); await shot("running"); }
  else if (s === "done") { await p.locator("#result").waitFor({ timeout: 150000 }); await p.waitForTimeout(500); await shot("done"); console.log(await p.locator("#result").innerText()); }
  else if (s.startsWith("card:")) { await p.locator(`#card-${s.slice(5)} .card-head`).click(); await p.waitForTimeout(400); await shot("card-" + s.slice(5)); }
  else if (s === "setup") { await p.click(".setup"); await p.waitForTimeout(400); await shot("sheet"); }
  else if (s === "full") await p.screenshot({ path: `/tmp/shots/${tag}-full.png`, fullPage: true });
  else if (s.startsWith("preset:")) { await p.selectOption("#experiment-first", s.slice(7)); await p.waitForTimeout(1500); }
}
console.log("errors", p.errors, await p.locator(".progress").innerText().catch(() => ""), await p.locator("#counter").innerText());
await b.close();
