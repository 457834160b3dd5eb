// Drives a Firefox as it is installed, by the protocol that it has of its own
// (Marionette): the tests' driver wants one that was built for it, or a newer one
// than a distribution has. FIREFOX names another.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const command = process.env.FIREFOX ?? ["firefox", "firefox-esr"].find((name) => spawnSync("sh", ["-c", `command -v ${name}`]).status === 0);

// missing says why there is no Firefox; it is false where there is one.
export const missing = command ? false : "there is no Firefox here: install one, or set FIREFOX to its path";

/** @param {Record<string, boolean | number | string>} preferences @param {Record<string, string>} [env] */
export async function launchFirefox(preferences, env) {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), "clipscope-firefox-"));
  const all = Object.entries({ "marionette.port": 0, "network.captive-portal-service.enabled": false, "network.connectivity-service.enabled": false, ...preferences });
  fs.writeFileSync(path.join(profile, "user.js"), all.map(([k, v]) => `user_pref("${k}", ${JSON.stringify(v)});\n`).join(""));
  const firefox = spawn(/** @type {string} */ (command), ["--headless", "--marionette", "--no-remote", "--profile", profile], { stdio: "ignore", env: { ...process.env, ...env } });
  const gone = once(firefox, "exit");
  const portFile = path.join(profile, "MarionetteActivePort");
  while (!(fs.existsSync(portFile) && fs.readFileSync(portFile, "utf8"))) {
    if (firefox.exitCode !== null) throw new Error(`Firefox ended with code ${firefox.exitCode}`);
    await sleep(50);
  }
  const socket = net.connect(Number(fs.readFileSync(portFile, "utf8")), "127.0.0.1");

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
  const { capabilities } = await send("WebDriver:NewSession", { pageLoadStrategy: "none" });
  return {
    version: String(capabilities.browserVersion),
    // visit opens a tab, and does not wait for it.
    /** @param {string} url */
    async visit(url) {
      const { handle } = await send("WebDriver:NewWindow", { type: "tab" });
      await send("WebDriver:SwitchToWindow", { handle });
      await send("WebDriver:Navigate", { url });
    },
    // evaluate runs a script's text in the newest tab.
    /** @param {string} script */
    evaluate: async (script) => (await send("WebDriver:ExecuteScript", { script, args: [] })).value,
    async close() {
      if (firefox.exitCode !== null) return;
      await send("Marionette:Quit", { flags: ["eForceQuit"] });
      await gone;
      fs.rmSync(profile, { recursive: true, force: true });
    },
  };
}
