// Rooms in workerd: parties that are simulated in Go meet over loopback, and what nobody should send is
// refused while they go on.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { root, start } from "./edge.mjs";

/** @type {Awaited<ReturnType<typeof start>>} */
let edge;
before(async () => { edge = await start(); });
after(() => edge.host.dispose());

// meet has parties meet, and resolves with what they say.
/** @param {Record<string, number>} how */
async function meet(how) {
  const env = { ...process.env, ROOMS: edge.url, ...Object.fromEntries(Object.entries(how).map(([k, v]) => [k, String(v)])) };
  const { stdout } = await promisify(execFile)(process.env.GO ?? "go", ["test", "-count=1", "-v", "-run", "TestPartiesMeetOnline", "./core/together/online"], { cwd: root, env, maxBuffer: 1 << 24 });
  return stdout.split("\n").find((line) => line.includes(" rounds in "))?.trim();
}

test("five parties add up in a room", async (t) => {
  t.diagnostic(String(await meet({ PARTIES: 5, WORDS: 26010, STEPS: 20 })));
});

test("thirty parties, of whom a fifth goes, some answer twice and some late", async (t) => {
  t.diagnostic(String(await meet({ PARTIES: 30, WORDS: 5000, STEPS: 15, DROP: 20, TWICE: 5, LATE: 1, SECONDS: 2 })));
});
