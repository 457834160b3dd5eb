// Drives a Firefox as it is installed, by the protocol that it has of its own
// (Marionette): the tests' driver wants one that was built for it, or a newer one
// than a distribution has. FIREFOX names another.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { after } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { bound, eventually, PATIENCE, PULSE } from "./browser.mjs";

const command = process.env.FIREFOX ?? ["firefox", "firefox-esr"].find((name) => spawnSync("sh", ["-c", `command -v ${name}`]).status === 0);

// missing says why there is no Firefox; it is false where there is one.
export const missing = command ? false : "there is no Firefox here: install one, or set FIREFOX to its path";

// literal is a value as a script writes it: JSON knows neither NaN nor -0.
/** @param {any} v @returns {string} */
function literal(v) {
  if (Array.isArray(v)) return `[${v.map(literal).join(", ")}]`;
  if (v !== null && typeof v === "object") return `{${Object.entries(v).map(([k, x]) => `[${JSON.stringify(k)}]: ${literal(x)}`).join(", ")}}`;
  if (typeof v === "string") return JSON.stringify(v);
  return Object.is(v, -0) ? "-0" : String(v);
}

// sharedFirefox is one for all tests of a file: opened by the first that asks for it, and
// closed after the last.
/** @param {Record<string, boolean | number | string>} preferences */
export function sharedFirefox(preferences) {
  /** @type {ReturnType<typeof launchFirefox> | undefined} */
  let firefox;
  after(async () => (await firefox)?.close());
  return () => firefox ??= launchFirefox(preferences);
}

/** @param {Record<string, boolean | number | string>} preferences @param {Record<string, string>} [env] */
export async function launchFirefox(preferences, env) {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), "clipscope-firefox-"));
  const all = Object.entries({ "marionette.port": 0, "network.captive-portal-service.enabled": false, "network.connectivity-service.enabled": false, ...preferences });
  fs.writeFileSync(path.join(profile, "user.js"), all.map(([k, v]) => `user_pref("${k}", ${JSON.stringify(v)});\n`).join(""));
  const firefox = bound(spawn(/** @type {string} */ (command), ["--headless", "--marionette", "--no-remote", "--profile", profile], { stdio: "ignore", env: { ...process.env, ...env } }));
  const gone = once(firefox, "exit");
  const portFile = path.join(profile, "MarionetteActivePort");
  const port = await Promise.race([
    eventually(() => Number(fs.readFileSync(portFile, "utf8")) || assert.fail("Firefox names no port")),
    gone.then(([code]) => { throw new Error(`Firefox ended with code ${code}`); }),
  ]);
  const socket = net.connect(port, "127.0.0.1");

  // A message is its length, a colon, and [0, id, command, parameters] or [1, id, error, result].
  /** @type {Map<number, { resolve(v: any): void, reject(e: Error): void }>} */
  const waiting = new Map();
  let unread = Buffer.alloc(0), last = 0;
  socket.on("data", (chunk) => {
    unread = Buffer.concat([unread, chunk]);
    for (let colon; (colon = unread.indexOf(":")) >= 0;) {
      const end = colon + 1 + Number(unread.subarray(0, colon));
      if (unread.length < end) return;
      const message = JSON.parse(unread.subarray(colon + 1, end).toString());
      unread = unread.subarray(end);
      if (!Array.isArray(message)) continue; // the greeting
      const [, id, error, result] = message;
      if (error) waiting.get(id).reject(new Error(`${error.error}: ${error.message}`));
      else waiting.get(id).resolve(result);
    }
  });
  await once(socket, "connect");
  /** @param {string} name @param {object} [parameters] @returns {Promise<any>} */
  const send = (name, parameters = {}) => new Promise((resolve, reject) => {
    waiting.set(++last, { resolve, reject });
    const text = JSON.stringify([0, last, name, parameters]);
    socket.write(`${Buffer.byteLength(text)}:${text}`);
  });
  // While a page comes, what is done there may end in an exception of the browser's own
  // parts: then it is done again.
  /** @param {string} type @param {object[]} actions */
  const perform = async (type, actions) => {
    for (let i = 0; ; i++, await sleep(50)) {
      try {
        return await send("WebDriver:PerformActions", { actions: [{ type, id: type, actions }] });
      } catch (e) {
        if (i === 20 || !/cannot be cloned/.test(e.message)) throw e;
      }
    }
  };
  const { capabilities } = await send("WebDriver:NewSession", { pageLoadStrategy: "none" });
  /** @type {string[]} */
  const tabs = await send("WebDriver:GetWindowHandles"); // the newest, which is driven, last
  return {
    version: String(capabilities.browserVersion),
    pid: Number(firefox.pid),
    // visit opens a tab, and does not wait for it. It returns what closes the tab.
    /** @param {string} url */
    async visit(url) {
      const { handle } = await send("WebDriver:NewWindow", { type: "tab" });
      tabs.push(handle);
      await send("WebDriver:SwitchToWindow", { handle });
      await send("WebDriver:Navigate", { url });
      return async () => {
        await send("WebDriver:SwitchToWindow", { handle, focus: false });
        await send("WebDriver:CloseWindow");
        tabs.splice(tabs.indexOf(handle), 1);
        await send("WebDriver:SwitchToWindow", { handle: tabs.at(-1) });
      };
    },
    // evaluate runs a script's text in the newest tab.
    /** @param {string} script */
    evaluate: async (script) => (await send("WebDriver:ExecuteScript", { script, args: [] })).value,
    // page opens a tab that can do what most tests ask of a page of playwright-core, until
    // the test ends. Its errors are those after the first evaluate there.
    /** @param {string} url @param {any} [t] the test; without one the tab stays @returns {Promise<any>} */
    async page(url, t) {
      await send("WebDriver:SetTimeouts", { script: 600_000 });
      const close = await this.visit(url);
      t?.after(close);
      // A page that has not come yet would overtake the next call, which the one before hears.
      /** @param {string} to @param {string} script says that it has come */
      const there = (to, script) => eventually(async () => assert.ok(await this.evaluate(script), `never at ${to}`));
      await there(url, "return location.href !== 'about:blank'");
      const page = {
        /** @type {string[]} */ errors: [],
        /** @param {string} to */
        async goto(to) {
          await send("WebDriver:Navigate", { url: to });
          await there(to, `return document.readyState !== "loading" && location.href.split("#")[0] === ${JSON.stringify(to.split("#")[0])}`);
        },
        /** @param {Function | string} f or its text @param {any} [x] */
        async evaluate(f, x) {
          const script = `const answer = arguments[arguments.length - 1], w = window;
            if (!w.clipscopeErrors) {
              const errors = w.clipscopeErrors = [], say = w.console.error;
              w.addEventListener("error", (e) => { errors.push(String(e.message)); });
              w.addEventListener("unhandledrejection", (e) => { errors.push(String(e.reason)); });
              w.console.error = (...all) => { errors.push(all.join(" ")); say(...all); };
            }
            Promise.resolve().then(() => (${f})(${literal(x)})).then((value) => ({ value }), (e) => ({ threw: String(e) }))
              .then((all) => answer({ ...all, errors: [...w.clipscopeErrors] }));`;
          const { value } = await send("WebDriver:ExecuteAsyncScript", { script, args: [] });
          page.errors = value.errors;
          if (value.threw !== undefined) throw new Error(value.threw);
          return value.value;
        },
        /** @param {Function} f @param {any} [x] */
        async waitForFunction(f, x) {
          const asked = `async () => {
            for (const end = Date.now() + ${PATIENCE}; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, ${PULSE}))) {
              if (await (${f})(${literal(x)})) return true;
            }
          }`;
          await eventually(async () => assert.ok(await page.evaluate(asked), `never: ${f}`)); // there may be another page by then
        },
        // As a person's hand would; of keys, those that playwright calls Tab.
        mouse: {
          /** @param {number} x @param {number} y */
          click: (x, y) => perform("pointer", [{ type: "pointerMove", x, y, duration: 0, origin: "viewport" }, { type: "pointerDown", button: 0 }, { type: "pointerUp", button: 0 }]),
        },
        keyboard: {
          /** @param {"Tab"} key */
          press: (key) => perform("key", ["keyDown", "keyUp"].map((type) => ({ type, value: { Tab: "\ue004" }[key] }))),
        },
        // hide hides the window, or shows it again.
        /** @param {boolean} hidden */
        hide: (hidden) => send(hidden ? "WebDriver:MinimizeWindow" : "WebDriver:MaximizeWindow"),
        /** @param {number} ms */
        waitForTimeout: (ms) => sleep(ms),
        /** @param {string} field @param {{ name: string, buffer: Buffer }[]} files */
        setInputFiles: (field, files) => page.evaluate(({ field, files }) => {
          const choice = new DataTransfer();
          for (const { name, text } of files) choice.items.add(new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], name));
          const input = document.querySelector(field);
          input.files = choice.files;
          input.dispatchEvent(new Event("change", { bubbles: true }));
        }, { field, files: files.map(({ name, buffer }) => ({ name, text: buffer.toString("base64") })) }),
      };
      return page;
    },
    async close() {
      if (firefox.exitCode !== null) return;
      await send("Marionette:Quit", { flags: ["eForceQuit"] });
      await gone;
      fs.rmSync(profile, { recursive: true, force: true });
    },
  };
}
