// On a host that sends no headers the page isolates itself from other sites, by its
// service worker and one reload, which never takes anything from anybody.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { controlled, eventually, gate, host, ready, root, stage, until } from "./browser.mjs";
import { launchFirefox, missing, sharedFirefox } from "./firefox.mjs";

const { server, alone } = await stage();

const firefox = sharedFirefox({});

// Both browsers, and how each opens a page without waiting for it.
const browsers = {
  Chromium: { skip: false, async visit(t, url) {
    const context = await alone(t, { serviceWorkers: "allow" });
    const page = Object.assign(await context.newPage(), { errors: [] });
    page.on("pageerror", (e) => page.errors.push(e.message));
    page.on("console", (m) => { if (m.type() === "error") page.errors.push(m.text()); });
    await page.goto(url, { waitUntil: "commit" });
    return page;
  } },
  Firefox: { skip: missing, async visit(t, url) {
    return (await firefox()).page(url, t);
  } },
};

// built is the site for a prefix.
const made = { "": path.join(root, "dist") };
after(() => { for (const prefix of Object.keys(made)) if (prefix) fs.rmSync(path.dirname(made[prefix]), { recursive: true }); });
function built(prefix) {
  if (!made[prefix]) {
    made[prefix] = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "clipscope-")), "site");
    execFileSync("bin/clipscope", ["-generate", "-prefix", prefix, "-out", made[prefix]], { cwd: root });
  }
  return made[prefix];
}

const config = {
  data: "blobs", model: { kind: "mlp", hidden: [128, 128] }, noise_multiplier: 1, target_delta: 1e-5,
  expected_batch_size: 96, steps: 6, learning_rate: 0.1, accountant: "rdp", seed: 3,
};

// outcome is what a run of so many threads came to.
const outcome = (page, threads) => page.evaluate(async (config) => {
  const result = await (await clipscope.train(config)).done;
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", result.released.parameters));
  return { parameters: [...digest].join(" "), threads: result.threads, notes: (result.notes ?? []).join(" ") };
}, { ...config, threads });

const isolated = (page) => page.evaluate(() => crossOriginIsolated);

for (const [name, { skip, visit }] of Object.entries(browsers)) {
  for (const prefix of ["", "/some/repo"]) {
    test(`a first visit to a host without headers, ${prefix || "at the root"}, is isolated after one reload, ${name}`, { skip }, async (t) => {
      const site = await host(t, built(prefix), prefix || "/");
      const page = await visit(t, `${site.origin}${prefix}/#seed=11`);
      await ready(page);
      assert.ok(await isolated(page));
      assert.deepEqual(site.pages, [`${prefix}/`, `${prefix}/`]);
      await eventually(async () => assert.match(await page.evaluate(() => location.hash), /^#(.*&)?seed=11\b/));
      assert.equal(site.asked.filter((name) => name.endsWith("/app.wasm")).length, 1, "the program is loaded once");
      const [one, two] = [await outcome(page, 1), await outcome(page, 2)];
      assert.deepEqual([one.threads, two.threads, two.notes], [1, 2, ""]);
      assert.equal(two.parameters, one.parameters);
      // From then on without a reload, at every page, and without a network.
      await controlled(page);
      await site.close();
      for (const where of ["/calculator", "/"]) {
        await page.goto(site.origin + prefix + where);
        await ready(page);
        assert.ok(await isolated(page), where);
        assert.equal(await page.evaluate(() => /** @type {any} */ (performance.getEntriesByType("navigation")[0]).type), "navigate", where);
      }
      assert.equal((await outcome(page, 2)).parameters, one.parameters);
      assert.deepEqual(page.errors, []);
    });
  }

  test(`what else is below the site's address stays as its host sends it, ${name}`, { skip }, async (t) => {
    const blog = `<!doctype html><title>Blog</title><form action="sent"><input name="said"><button>Send</button></form><script>document.title += ", and its script"</script>`;
    const other = { "blog/": blog, "blog/sent": "<!doctype html><title>Sent</title>" };
    const site = await host(t, built(""), "/", async (name) => other[name]);
    const page = await visit(t, site.origin);
    await ready(page);
    await controlled(page);
    await page.goto(site.origin + "/blog/");
    await until(page, async () => document.title === "Blog, and its script");
    assert.ok(!await isolated(page));
    await page.evaluate(() => { document.querySelector("button")?.click(); });
    await until(page, async () => document.title === "Sent");
    // Nobody's address has the site's own page for that, with its headers.
    await page.goto(site.origin + "/nobody");
    assert.ok(await isolated(page));
    await until(page, async () => document.title.startsWith("No such page"));
    assert.deepEqual(page.errors.filter((e) => !/404/.test(e)), []);
  });

  // What somebody may do before the service worker is there.
  const files = [{ name: "points.csv", buffer: Buffer.from("a,b,label\n" + Array.from({ length: 60 }, (_, i) => `${i % 7},${i % 5},${"xy"[i % 2]}\n`).join("")) }];
  const uses = {
    "a click": (page) => page.mouse.click(600, 300),
    "a key": (page) => page.keyboard.press("Tab"),
    "a file": async (page) => {
      await page.waitForFunction(() => document.querySelector("input[type=file]") && globalThis.clipscopeEarly);
      await page.setInputFiles("input[type=file]", files);
    },
    "a run": async (page) => {
      await page.waitForFunction(() => globalThis.clipscope);
      await page.evaluate((config) => { Object.assign(window, { run: clipscope.train({ ...config, threads: 2 }) }); }, config);
    },
  };
  for (const [what, use] of Object.entries(uses)) {
    test(`${what} keeps the page as it is, on a host without headers, ${name}`, { skip }, async (t) => {
      const worker = gate();
      const site = await host(t, built(""), "/", async (name) => { if (name === "app-worker.js") await worker.opened; return undefined; });
      const page = await visit(t, site.origin);
      await page.waitForFunction(() => document.readyState !== "loading");
      await use(page);
      await page.evaluate(() => { document.documentElement.dataset.marked = "yes"; });
      worker.open();
      await until(page, async () => (await navigator.serviceWorker.getRegistration())?.active?.state === "activated");
      await ready(page);
      assert.equal(await page.evaluate(() => document.documentElement.dataset.marked), "yes");
      assert.deepEqual(site.pages, ["/"]);
      assert.ok(!await isolated(page));
      if (what === "a file") await page.waitForFunction(() => document.body.innerText.includes("points.csv"));
      const single = what === "a run" ? await page.evaluate(async () => {
        const result = await (await /** @type {any} */ (window).run).done;
        return { threads: result.threads, notes: result.notes.join(" ") };
      }) : await outcome(page, 2);
      assert.equal(single.threads, 1);
      assert.match(single.notes, /One thread instead of 2: the page was there before its service worker, which isolates it.*when it is loaded again/);
      if (what === "a file") return; // which a reload would ask about
      await page.goto(site.origin + "/help");
      await ready(page);
      assert.ok(await isolated(page), "from the next load on");
      assert.equal((await outcome(page, 2)).threads, 2);
      assert.deepEqual(page.errors, []);
    });
  }

  // The second page may be long in coming, and until it is there the first is in use.
  // The page does it by itself, for while it goes Chromium holds back what it is told;
  // Firefox ends what it waits for.
  for (const what of ["a file", "a run"]) {
    test(`${what} keeps the page while the one that is isolated is on its way, ${name}`, { skip }, async (t) => {
      const installed = gate(), asked = gate(), answered = gate();
      const site = await host(t, built(""), "/", async (name) => {
        if (name === "app-worker.js") await installed.opened;
        if (name === "404.html" && site.pages.length < 2) await asked.opened;
        if (name !== "" || site.pages.length < 2) return undefined;
        asked.open();
        await answered.opened;
        return undefined;
      });
      const page = await visit(t, site.origin);
      await page.waitForFunction(() => globalThis.clipscope && document.readyState !== "loading" && document.querySelector("input[type=file]"));
      await page.evaluate(({ what, text, config }) => {
        document.documentElement.dataset.marked = "yes";
        let acted = false;
        const act = () => {
          if (acted) return;
          acted = true;
          const from = performance.now();
          globalThis.clipscopeEarly.stays.then(() => { document.documentElement.dataset.stays = String(performance.now() - from); });
          if (what === "a run") {
            Object.assign(window, { run: clipscope.train({ ...config, threads: 2 }) });
            return;
          }
          const choice = new DataTransfer(), input = /** @type {HTMLInputElement} */ (document.querySelector("input[type=file]"));
          choice.items.add(new File([text], "points.csv"));
          input.files = choice.files;
          input.dispatchEvent(new Event("change", { bubbles: true }));
        };
        Object.assign(window, { act });
        fetch("/404.html").then(act, () => {});
      }, { what, text: files[0].buffer.toString(), config });
      installed.open();
      await asked.opened;
      await page.evaluate(() => /** @type {any} */ (window).act());
      await ready(page);
      await eventually(async () => {
        const waited = await page.evaluate(() => Number(document.documentElement.dataset.stays));
        assert.ok(waited < 8000, `it stays ${waited} ms after it was used: not for that, but for its clock`);
      });
      if (what === "a file") await page.waitForFunction(() => document.body.innerText.includes("points.csv"));
      answered.open();
      await sleep(500); // as long as the second page would take; that it stays away tells nobody, and no pause fails what stays
      if (what === "a run") assert.equal(await page.evaluate(async () => (await (await /** @type {any} */ (window).run).done).steps), config.steps);
      assert.equal(await page.evaluate(() => document.documentElement.dataset.marked), "yes");
      assert.equal(site.pages.length, 2);
      assert.ok(!await isolated(page));
      assert.deepEqual(page.errors, []);
    });
  }
}

// Where the service worker does not isolate the page there is one reload at most, and
// one thread.
const worker = fs.readFileSync(path.join(root, "dist/app-worker.js"), "utf8");
const leaving = worker + `self.addEventListener("activate", (event) => event.waitUntil(self.registration.unregister()));`;
for (const [what, { script, loads, note, init }] of Object.entries({
  "has no headers to add": { script: worker.replace(/const HEADERS = \{[^}]*\}/, "const HEADERS = {}"), loads: 2, note: /those that the service worker adds have not done it/ },
  "is gone at once": { script: leaving, loads: 2, note: /loaded again/ },
  "is gone at once, and nothing may be stored": { script: leaving, loads: 2, note: /loaded again/, init: () => {
    Object.defineProperty(window, "sessionStorage", { get() { throw new DOMException("refused", "SecurityError"); } });
  } },
  "cannot be installed": { script: worker + `self.addEventListener("install", (event) => event.waitUntil(Promise.reject()));`, loads: 1, note: /no service worker here/ },
  "does not run": { script: "}", loads: 1, note: /no service worker here/ },
  "never comes": { script: undefined, loads: 1, note: /loaded again/ },
})) {
  test(`a service worker that ${what} costs threads and no more`, async (t) => {
    const never = new Promise(() => {});
    const site = await host(t, built(""), "/", async (name) => name === "app-worker.js" ? script ?? await never : undefined);
    const context = await alone(t, { serviceWorkers: "allow" });
    if (init) await context.addInitScript(init);
    const page = await context.newPage();
    await page.goto(site.origin + "/#seed=11", { waitUntil: "commit" });
    await ready(page);
    const single = await outcome(page, 2);
    assert.equal(single.threads, 1);
    assert.match(single.notes, note);
    assert.equal(site.pages.length, loads);
    await eventually(() => assert.match(page.url(), /#(.*&)?seed=11\b/));
  });
}

test("where the host sends the headers nothing is loaded again", async (t) => {
  const page = await browsers.Chromium.visit(t, server.url);
  await ready(page);
  await controlled(page);
  assert.ok(await isolated(page));
  assert.deepEqual(await page.evaluate(() => performance.getEntriesByType("navigation").map((n) => /** @type {any} */ (n).type)), ["navigate"]);
  assert.deepEqual(page.errors, []);
});

test("where all cookies are blocked, and with them channels and locks, the page runs, Firefox", { skip: missing }, async (t) => {
  const blocking = await launchFirefox({ "network.cookie.cookieBehavior": 2 });
  t.after(() => blocking.close());
  const page = await blocking.page(server.url);
  await ready(page);
  assert.equal((await outcome(page, 1)).threads, 1);
  const ended = await page.evaluate(async ({ config, text }) => {
    const files = { train: [new File([text], "points.csv")] };
    const run = await clipscope.train({ ...config, data: undefined }, files).catch((e) => e);
    return run.message ? `${run.name}: ${run.message}` : (await run.done).steps;
  }, { config, text: "a,b,label\n" + "1,2,x\n3,4,y\n".repeat(60) });
  t.diagnostic(String(ended));
  assert.ok(ended === config.steps || /^ClipscopeError: .*ledger/.test(ended), ended);
});
