// Rooms in workerd: parties that are simulated in Go meet over loopback, and what nobody should send is
// refused while they go on.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { WebSocket } from "ws";
import { eventually } from "../e2e/browser.mjs";
import { root, start } from "./edge.mjs";

/** @type {Awaited<ReturnType<typeof start>>} */
let edge;
before(async () => { edge = await start(); });
after(() => edge.host.dispose());

// meet has parties meet, and resolves with what they say.
/** @param {Record<string, number>} how @param {string} [as] @param {string} [url] */
async function meet(how, as = "TestPartiesMeetOnline", url = edge.url) {
  const env = { ...process.env, ROOMS: url, ...Object.fromEntries(Object.entries(how).map(([k, v]) => [k, String(v)])) };
  const { stdout } = await promisify(execFile)(process.env.GO ?? "go", ["test", "-count=1", "-v", "-run", as, "./core/together/online"], { cwd: root, env, maxBuffer: 1 << 24 });
  return stdout.split("\n").find((line) => line.includes(" rounds in "))?.trim();
}

test("five parties add up in a room", async (t) => {
  t.diagnostic(String(await meet({ PARTIES: 5, WORDS: 26010, STEPS: 20 })));
});

test("thirty parties, of whom a fifth goes, some answer twice and some late", async (t) => {
  t.diagnostic(String(await meet({ PARTIES: 30, WORDS: 5000, STEPS: 15, DROP: 20, TWICE: 5, LATE: 1, SECONDS: 2 })));
});

test("a hundred parties that are told apart by their seats alone", async (t) => {
  t.diagnostic(String(await meet({ PARTIES: 100, WORDS: 1000, STEPS: 3 }, "TestManyMeetOnline")));
});

test("a room goes on when its host has begun anew", async (t) => {
  const kept = fs.mkdtempSync(path.join(os.tmpdir(), "rooms-"));
  /** @type {any} */
  let options;
  const own = await start((o) => { options = Object.assign(o, { durableObjectsPersist: kept }); });
  try {
    const run = meet({ PARTIES: 4, WORDS: 2000, STEPS: 120, SLOW: 50 }, "TestPartiesMeetOnline", own.url);
    for (let again = 0; again < 3; again++) {
      await setTimeout(2500);
      await own.host.setOptions({ ...options, port: Number(new URL(own.url).port) });
    }
    t.diagnostic(String(await run));
  } finally {
    await own.host.dispose();
    fs.rmSync(kept, { recursive: true, force: true });
  }
});

// opened is a room's address, for who speaks without being asked.
async function opened() {
  const response = await fetch(edge.url + "/api/rooms", { method: "POST", headers: { "Content-Type": "application/json", "CF-Connecting-IP": "10.9.9.9" }, body: JSON.stringify({ welcome: welcome.toString("base64") }) });
  assert.equal(response.status, 201, await response.clone().text());
  const { name } = await response.json();
  return `${edge.url}/api/rooms/${name}`;
}

// A welcome as package wire writes it, of three parties, two of whom are a quorum, and sums of two numbers.
const welcome = Buffer.from("2101" + "0000" + "0300" + "0200" + "02000000" + "04000000" + "0a00" + "00000000" + "01000000" + "07", "hex");
const hello = (/** @type {number} */ token) => Buffer.concat([Buffer.from([1, 1, token]), Buffer.alloc(19), Buffer.from([1, 0, 0, 0, 7])]);

test("200 messages that nobody should send end their own connection alone", async () => {
  const url = (await opened()).replace("http", "ws");
  /** @param {Buffer | string} first */
  const socket = async (first) => {
    const ws = new WebSocket(url), got = /** @type {Buffer[]} */ ([]);
    ws.on("message", (m) => got.push(/** @type {Buffer} */ (m)));
    ws.on("error", () => {});
    await new Promise((open) => ws.once("open", open));
    ws.send(first);
    return { ws, got, closed: new Promise((end) => ws.once("close", end)) };
  };
  const honest = await socket(hello(200));
  await eventually(() => assert.equal(honest.got[0]?.[0], 33, "no welcome"));
  const random = (/** @type {number} */ n, /** @type {number} */ kind) => Buffer.concat([Buffer.from([kind]), Buffer.from(Array.from({ length: n }, (_, i) => (i * 97 + kind * 13 + n) % 256))]);
  let hostile = 0;
  for (let kind = 0; kind < 50; kind++) {
    for (const message of [random(0, kind), random(7, kind), random(300, kind), kind % 2 ? "a text" : Buffer.concat([hello(kind), Buffer.from([0])])]) {
      const { closed, got } = await socket(message);
      await closed;
      assert.equal(got.at(-1)?.[0], 39, `message ${kind} is answered by ${got.at(-1)?.toString("hex")}`); // over
      hostile++;
    }
  }
  const large = await socket(Buffer.concat([Buffer.from([4, 1, 0, 0, 0, 255, 255, 255, 127]), Buffer.alloc(8 << 20)]));
  await large.closed;
  assert.equal(hostile, 200);
  // Who has a seat goes on: a second party is shown to it.
  const second = await socket(hello(201));
  await eventually(() => assert.deepEqual([second.got[0]?.[0], honest.got.at(-1)?.[0]], [33, 34]));
  for (const { ws } of [honest, second]) ws.close();
});

test("rooms are found by their names alone, and another site's page gets in nowhere", async () => {
  const url = await opened();
  assert.deepEqual(await (await fetch(url)).json(), { welcome: welcome.toString("base64") });
  assert.equal((await fetch(url.slice(0, -1) + "x")).status, 404);
  assert.equal((await fetch(edge.url + "/api/rooms/short")).status, 404);
  const status = (/** @type {string} */ where, /** @type {any} */ headers) => new Promise((say) => new WebSocket(where.replace("http", "ws"), { headers }).on("unexpected-response", (_, r) => say(r.statusCode)).on("open", () => say(101)).on("error", () => {}));
  assert.equal(await status(url, { Origin: "https://other.example" }), 403);
  assert.equal(await status(url, { Origin: edge.url }), 101);
  assert.equal(await status(edge.url + "/api/rooms/abcdefghjkmnpqrs", {}), 404);
});
