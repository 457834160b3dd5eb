// Several parties train one model on the page: browsers that meet in a room of the Worker, in workerd.
import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import { after, before, test } from "node:test";
import { WebSocket, WebSocketServer } from "ws";
import { eventually, launch, open, ready } from "../e2e/browser.mjs";
import { missing, sharedFirefox } from "../e2e/firefox.mjs";
import { start } from "./edge.mjs";

/** @type {Awaited<ReturnType<typeof start>>} */
let edge;
/** @type {import("playwright-core").Browser} */
let browser;
before(async () => { [edge, browser] = await Promise.all([start(), launch()]); });
after(async () => {
  await browser.close();
  await edge.host.dispose();
});
const firefox = sharedFirefox({});

/** @param {any} t @param {string} [where] @returns {Promise<any>} */
async function visit(t, where = "/") {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  t.after(() => context.close());
  return open(context, edge.url + where);
}

// rows are a table that is easy to learn; no part has a row of another.
/** @param {number} part @param {number} n */
const rows = (part, n) => "width,height,kind\n" + Array.from({ length: n }, (_, i) => {
  const w = (7 * i + 3 * part) % 17, h = (5 * i + part) % 13;
  return `${w},${h},${w > h + (i % 3) - 1 ? "wide" : "high"}`;
}).join("\n") + "\n";
const csv = { test_share: 0.2, hold_out: "row" };
const config = { model: { kind: "softmax" }, target_epsilon: 4, expected_batch_size: 200, steps: 60, num_examples: 960, csv, scaling: { kind: "declared", lo: 0, hi: 20 } };
const three = { ...config, together: { parties: 3, tolerance: 1 } };

// The pages' own calls: a room is opened, joined and begun, and a run comes to its end.
/** @type {(page: any, text: string, of: object) => Promise<{ room: string, secret: string }>} */
const opened = (page, text, of) => page.evaluate(async ([text, of]) => {
  const w = /** @type {any} */ (window);
  w.data = await w.clipscope.open({ train: [new File([text], "part.csv")] }, of.csv);
  return w.clipscope.together.open(of, w.data);
}, [text, of]);
/** @type {(page: any, text: string, of: object, join: object) => Promise<void>} */
const joined = (page, text, of, join) => page.evaluate(async ([text, of, join]) => {
  const w = /** @type {any} */ (window);
  w.data ??= await w.clipscope.open({ train: [new File([text], "part.csv")] }, of.csv);
  w.run = await w.clipscope.train(of, w.data, { together: join });
}, [text, of, join]);
const here = (page, n) => eventually(async () => assert.equal(await page.evaluate(() => /** @type {any} */ (window).run.party?.seats.filter((s) => s.name).length ?? 0), n));
const begin = (page) => page.evaluate(() => /** @type {any} */ (window).run.startTogether());
const ended = (page) => page.evaluate(async () => {
  const { run } = /** @type {any} */ (window), r = await run.done;
  return { steps: r.steps, parameters: Array.from(r.released.parameters), accuracy: r.test_accuracy, together: r.statement.together, guarantee: r.guarantee, notes: r.notes ?? [], party: run.party };
});

test("three browsers, one of them Firefox, end with one model, as good as that of all rows", async (t) => {
  const all = [await visit(t), await visit(t), missing ? await visit(t) : await (await firefox()).page(edge.url + "/", t)];
  if (missing) t.diagnostic(missing);
  await Promise.all(all.map((page) => ready(page)));
  const texts = all.map((_, i) => rows(i, 400));
  const room = await opened(all[0], texts[0], three);
  for (const [i, page] of all.entries()) {
    await joined(page, texts[i], three, { ...room, name: `hospital ${i + 1}` });
    await here(all[0], i + 1);
  }
  await begin(all[0]);
  const results = await Promise.all(all.map(ended));
  for (const r of results) {
    assert.equal(r.steps, 60);
    assert.deepEqual(r.parameters, results[0].parameters);
    assert.equal(r.party.fingerprint, results[0].party.fingerprint);
    assert.match(r.party.fingerprint, /^([0-9a-f]{4} ){7}[0-9a-f]{4}$/);
    assert.deepEqual([r.together.parties, r.together.tolerance, r.together.transcript.length], [3, 1, 64]);
    assert.equal(r.together.transcript, results[0].together.transcript);
    assert.match(r.guarantee, /For a party that trusts no other it is/);
    assert.deepEqual(r.party.seats.map((/** @type {any} */ s) => s.name), ["hospital 1", "hospital 2", "hospital 3"]);
  }
  const alone = await all[1].evaluate(async ([texts, of]) => {
    const text = texts.map((t, i) => i === 0 ? t : t.slice(t.indexOf("\n") + 1)).join("");
    return (await (await window.clipscope.train({ ...of, noise_mode: "secure" }, { train: [new File([text], "all.csv")] })).done).test_accuracy;
  }, [texts, config]);
  const mean = results.reduce((sum, r) => sum + r.accuracy, 0) / 3;
  t.diagnostic(`together ${(100 * mean).toFixed(1)} %, all rows in one place ${(100 * alone).toFixed(1)} %`);
  assert.ok(mean > alone - 0.1, `${mean}, and ${alone} of all rows`);
  for (const page of all) assert.deepEqual(page.errors, []);
});

// recorder passes on what a browser says to the host and back, and keeps what the browser said.
/** @param {any} t */
async function recorder(t) {
  /** @type {string[]} */
  const requests = [];
  /** @type {Buffer[]} */
  const frames = [];
  const { hostname, port } = new URL(edge.url);
  const server = http.createServer((request, response) => {
    /** @type {Buffer[]} */
    const body = [];
    request.on("data", (b) => body.push(b));
    request.on("end", () => {
      requests.push(`${request.method} ${request.url} ${Buffer.concat(body)}`);
      const on = http.request({ hostname, port, path: request.url, method: request.method, headers: request.headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      });
      on.on("error", () => response.destroy());
      on.end(Buffer.concat(body));
    });
  });
  const sockets = new WebSocketServer({ noServer: true });
  server.on("upgrade", (request, socket, head) => sockets.handleUpgrade(request, socket, head, (from) => {
    requests.push(`${request.method} ${request.url} `);
    const to = new WebSocket(edge.url.replace("http", "ws") + request.url, { origin: edge.url }), there = once(to, "open");
    from.on("message", async (/** @type {Buffer} */ b) => {
      frames.push(b);
      await there;
      to.send(b);
    });
    to.on("message", (b) => from.send(b));
    to.on("error", () => from.terminate());
    from.on("close", () => there.then(() => to.close(), () => {}));
    to.on("close", () => from.close());
  }));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    for (const socket of sockets.clients) socket.terminate();
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${/** @type {import("node:net").AddressInfo} */ (server.address()).port}`, requests, frames };
}

test("nothing leaves but sealed and masked frames, and all of it is counted", async (t) => {
  const marked = (/** @type {number} */ part) => rows(part, 300).replaceAll("wide", "zebra-wide").replace("height", "zebra-height");
  const two = { ...config, num_examples: 600, steps: 12, together: { parties: 2 } };
  const wire = await recorder(t);
  const all = [];
  for (let i = 0; i < 2; i++) {
    const context = await browser.newContext();
    t.after(() => context.close());
    all.push(await open(context, wire.url + "/"));
  }
  const room = await opened(all[0], marked(0), two);
  const before = wire.requests.length;
  for (const [i, page] of all.entries()) {
    await joined(page, marked(i), two, { ...room, name: `zebra ${i}` });
    await here(all[0], i + 1);
  }
  await begin(all[0]);
  const results = await Promise.all(all.map(ended));
  const words = results[0].parameters.length;
  /** @type {Record<number, Buffer[]>} */
  const kinds = {};
  for (const b of wire.frames) (kinds[b[0]] ??= []).push(b);
  // Package wire's kinds: hello, start, ready, words.
  assert.deepEqual(Object.keys(kinds).map(Number), [1, 2, 3, 4]);
  for (const b of wire.frames) {
    assert.ok(!b.includes("zebra"), `a frame of kind ${b[0]} has a text of the data`);
    if (b[0] === 4) assert.equal(b.length, 9 + 4 * words);
    else assert.ok(b.length < 1200, `a frame of kind ${b[0]} with ${b.length} bytes`);
  }
  assert.equal(kinds[4].length, 2 * 12, "each answers each round once");
  // The share of ones in bits that are drawn is within 6 deviations of a half, but for one time in 10⁹.
  let ones = 0;
  const bits = 24 * words * 32;
  for (const b of kinds[4]) for (const byte of b.subarray(9)) for (let x = byte; x; x &= x - 1) ones++;
  assert.ok(Math.abs(ones - bits / 2) < 6 * Math.sqrt(bits) / 2, `${ones} of ${bits} bits are 1`);
  const asked = wire.requests.slice(before).filter((r) => r.includes("/api/"));
  assert.deepEqual([...new Set(asked)], [`GET /api/rooms/${room.room} `], "after the room was opened");
  for (const r of wire.requests) assert.ok(!r.includes("zebra") && !r.includes(room.secret), r);
  assert.equal(wire.requests.filter((r) => r.startsWith("POST")).length, 1);
  const counted = results.reduce((sum, r) => sum + r.party.sent, 0);
  assert.equal(counted, wire.frames.reduce((sum, b) => sum + b.length, 0));
  t.diagnostic(`${wire.frames.length} frames with ${counted} bytes of two parties, 12 steps, ${words} parameters`);
});

/** @param {any} page @param {string} text @param {string} [name] */
const choose = (page, text, name = "part.csv") => page.setInputFiles("#files", { name, mimeType: "text/csv", buffer: Buffer.from(text) });
const setup = "#data=files&model.kind=softmax&target_epsilon=4&expected_batch_size=100&steps=300&scaling.kind=declared&scaling.lo=0&scaling.hi=20";
/** @param {any} page @param {string} id @param {RegExp | string} text */
const shows = (page, id, text) => page.locator(id, { hasText: text }).waitFor();

test("parties that are said before the file is chosen have a number of rows proposed once it is read", async (t) => {
  const one = await visit(t, "/" + setup);
  await one.locator("#card-together button.card-head").click();
  await one.fill("#f-together-parties", "2");
  await one.locator("#f-together-parties").blur();
  await eventually(async () => assert.ok(await one.evaluate(() => location.hash.includes("together.parties=2"))));
  await choose(one, rows(0, 900));
  await shows(one, "#together", "if you trust nobody");
  assert.equal(await one.evaluate(() => location.hash.includes("num_examples=1440")), true, "twice the rows to train on are declared");
  assert.deepEqual(one.errors, []);
});

test("two people meet: a room is opened, what differs is named, who leaves can join again, and a reload is come back from", async (t) => {
  const one = await visit(t, "/" + setup), shots = process.env.SHOTS;
  /** @param {any} page @param {string} name */
  const shot = async (page, name) => { if (shots) await page.screenshot({ path: `${shots}/${name}.png` }); };
  await choose(one, rows(0, 900));
  await one.locator("#card-together button.card-head").click();
  await one.fill("#f-together-parties", "2");
  await one.fill("#party-name", "St. Anna");
  await one.locator("#party-name").blur();
  await shows(one, "#act-start[aria-disabled=false]", "Open room");
  await shows(one, "#together", "if you trust nobody");
  assert.equal(await one.evaluate(() => location.hash.includes("num_examples=1440")), true, "twice the rows to train on are declared");
  await shot(one, "offer");
  await one.click("#act-start");
  await shows(one, "#together-here", "1 of 2 parties");
  const address = await one.textContent("#together-address");
  assert.equal(address, one.url());
  await shot(one, "lobby");

  // Another column, and then the right one.
  const two = await visit(t, address.replace(edge.url, ""));
  await shows(two, "#together", "You are invited: 2 parties train one model");
  await choose(two, rows(1, 900).replace("height", "depth"), "other.csv");
  await shows(two, "#together-columns", "It lacks the column height. The room’s does not have depth.");
  await shot(two, "differ");
  await choose(two, rows(1, 900), "part-2.csv");
  await shows(two, "#together-agree", "as agreed");
  await two.locator("#card-optimiser button.card-head").click();
  await two.fill("#f-learning_rate", "0.7");
  await two.locator("#f-learning_rate").blur();
  await shows(two, "#together-differ", "learning_rate: ");
  await two.click("#together-take");
  await shows(two, "#together-agree", "as agreed");
  await two.click("#act-start");
  await shows(one, "#together-here", "2 of 2 parties");
  await shows(two, "#together", "St. Anna");
  await shows(one, ".runbar [role=status]", "2 of 2 parties are here");
  const three = await visit(t, address.replace(edge.url, ""));
  await shows(three, "#together-lack", "the same columns in the same order: width, height, kind; and the classes high, wide");
  await choose(three, rows(2, 900));
  await shows(three, "#together-agree", "as agreed");
  await three.click("#act-start");
  await shows(three, ".runbar .fault", "All seats are taken");
  await eventually(async () => assert.match(await three.textContent("#ledger-spent"), /^0/, "who found no seat is charged nothing"));
  await two.click("#act-stop");
  await shows(two, ".runbar [role=status]", "You have left the room. Nothing is charged.");
  await shows(one, "#together-here", "1 of 2 parties");
  await shows(two, "#together-agree", "as agreed");
  await eventually(async () => assert.match(await two.textContent("#ledger-spent"), /^0/, "what did not begin is not charged"));
  await two.click("#act-start");
  await shows(one, "#together-here", "2 of 2 parties");
  await one.click("#together-start");
  await shows(two, "#together-said", "2 of 2 parties in the last step");
  await shot(two, "going");

  // A reload in the midst of it.
  await eventually(async () => assert.equal(await two.evaluate(async () => (await navigator.locks.query()).held?.some((l) => l.name?.startsWith("clipscope-stored/"))), true));
  await two.reload();
  await ready(two);
  await shows(two, "#interrupted", "A run on part-2.csv was interrupted");
  await choose(two, rows(1, 900), "part-2.csv");
  await two.locator("#interrupted-go-on:not([disabled])").click();
  for (const page of [one, two]) await shows(page, ".runbar .left", "finished");
  await shot(one, "end");
  for (const page of [one, two]) await shows(page, "#panel-room .sentence", "The last sum is that of 2 parties.");
  const fingerprints = await Promise.all([one, two].map((page) => page.textContent("#together-fingerprint")));
  assert.equal(fingerprints[0], fingerprints[1]);
  await shows(one, "#counter", /MB|kB sent/);
  assert.ok(!one.url().includes("room="), "the room is over, and the address is the settings' again");
  assert.deepEqual([...one.errors, ...two.errors], []);
});

test("a run that is never started is not charged, whatever ends it", async (t) => {
  const two = { ...config, num_examples: 600, together: { parties: 2 } }, all = [await visit(t), await visit(t)];
  await Promise.all(all.map((page) => ready(page)));
  const charges = (/** @type {any} */ page) => page.evaluate(async () => (await window.clipscope.ledger.entries()).map((/** @type {any} */ e) => `${e.state} ${e.charged}`));
  const failure = (/** @type {any} */ page) => page.evaluate(() => /** @type {any} */ (window).run.done.then(() => "none", (/** @type {Error} */ e) => e.message));
  const room = await opened(all[0], rows(0, 300), two);
  await joined(all[0], rows(0, 300), two, { ...room, name: "first" });
  await here(all[0], 1);
  await joined(all[1], rows(1, 300), { ...two, steps: 50 }, { ...room, name: "second" });
  assert.match(await failure(all[1]), /config\.steps/);
  await eventually(async () => assert.deepEqual(await charges(all[1]), ["closed 0"], "who differs"));
  await joined(all[1], rows(1, 300), two, { ...room, name: "second" });
  await here(all[0], 2);
  for (const page of all) assert.equal(await page.evaluate(() => (/** @type {any} */ (window).run.stop(), /** @type {any} */ (window).run.done.then((/** @type {any} */ r) => r.steps))), 0);
  await eventually(async () => assert.deepEqual(await charges(all[1]), ["closed 0", "closed 0"], "who waited in vain"));
  await eventually(async () => assert.deepEqual(await charges(all[0]), ["closed 0"], "who left"));
});

test("a file is in a room once in a browser", async (t) => {
  const one = await visit(t), two = await open(one.context(), edge.url + "/help/"), other = await open(one.context(), edge.url + "/help/");
  const room = await opened(one, rows(0, 300), three);
  await joined(one, rows(0, 300), three, { ...room, name: "one" });
  await here(one, 1);
  await assert.rejects(joined(two, rows(0, 300), three, { ...room, name: "two" }), /is in this room already, in another tab/);
  await other.evaluate(async ([text, of]) => { window.data = await window.clipscope.open({ train: [new File([text], "another.csv")] }, of.csv); }, [rows(1, 300), three]);
  await joined(other, "", three, { ...room, name: "other" });
  await here(one, 2);
  await one.evaluate(() => window.run.stop());
  await one.evaluate(() => window.run.done);
  await joined(two, rows(0, 300), three, { ...room, name: "two" });
  await here(two, 2);
});
