// The Worker in workerd: the site with its headers, short links, what is refused, many
// requests at once, and the limit.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { eventually, launch, open } from "../e2e/browser.mjs";
import { root, start } from "./edge.mjs";

/** @type {Awaited<ReturnType<typeof start>>} */
let edge;
before(async () => { edge = await start(); });
after(() => edge.host.dispose());

// Who asks: each test, and where it asks often each request, is another client to the limit.
let clients = 0;
const client = () => `192.0.2.${++clients % 256}`.replace("192.0", `10.${clients >> 8}`);

/** @param {string} where @param {any} [options] */
const ask = (where, options) => fetch(edge.url + where, { redirect: "manual", ...options });

/** @param {string} body @param {any} [headers] @param {string} [method] */
const post = (body, headers, method = "POST") => ask("/api/links", { method, body, headers: { "Content-Type": "application/json", "CF-Connecting-IP": client(), ...headers } });

/** @param {string} link */
async function shorten(link) {
  const response = await post(JSON.stringify({ link }));
  assert.equal(response.status, 201, await response.clone().text());
  return (await response.json()).path;
}

// sent are the headers that _headers asks for, which are those of the local server.
const sent = () => Object.fromEntries(fs.readFileSync(path.join(root, "app/edge/site/_headers"), "utf8").split("\n").slice(1).filter(Boolean)
  .map((line) => [line.slice(0, line.indexOf(":")).trim(), line.slice(line.indexOf(":") + 1).trim()]));

test("the site's files have every header, are packed, and are not sent again", async () => {
  const wanted = sent();
  assert.ok(wanted["Content-Security-Policy"].includes("frame-ancestors 'none'"));
  assert.equal(Object.keys(wanted).length, 10);
  for (const [where, type] of [["/", "text/html"], ["/lab/", "text/html"], ["/use/", "text/html"], ["/help/", "text/html"], ["/web/app.wasm", "application/wasm"], ["/app-worker.js", "text/javascript"]]) {
    const response = await ask(where, { headers: { "Accept-Encoding": "br" } });
    const body = Buffer.from(await response.arrayBuffer()), name = path.join(root, "app/edge/site", where, where.endsWith("/") ? "index.html" : "");
    assert.equal(response.status, 200, where);
    assert.ok(body.equals(fs.readFileSync(name)), where);
    for (const [key, value] of Object.entries(wanted)) assert.equal(response.headers.get(key), value, `${where}: ${key}`);
    assert.ok(response.headers.get("Content-Type").startsWith(type), where);
    assert.equal(response.headers.get("Content-Encoding"), "br", where);
    const again = await ask(where, { headers: { "If-None-Match": response.headers.get("ETag") } });
    assert.equal(again.status, 304, where);
  }
  const missing = await ask("/nothing");
  assert.equal(missing.status, 404);
  assert.match(await missing.text(), /There is no such page/);
});

test("a short link is kept, leads there, and has all headers", async () => {
  const lab = "/lab/#lab.c=0.3&lab.with=auto-s,psac&lab.step=30&data=moons&max_grad_norm=1&method=dc-e&noise_multiplier=1&seed=7";
  for (const link of ["/#data=moons&seed=1", "/#csv.label=a+%C3%A9&data=files&method=psac&r=0.2", lab, "/lab/#lesson=gradients"]) {
    const short = await shorten(link);
    assert.match(short, /^\/x\/[a-z]{6}-[a-z]{6}-[a-z]{6}$/);
    assert.equal(await shorten(link), short, "the same has the same name");
    const id = short.slice(3);
    for (const written of [id, id.toUpperCase(), id.replaceAll("-", ""), id.replaceAll("-", "%20"), id.replaceAll("b", "p").replaceAll("i", "e"), id + "/"]) {
      const response = await ask("/x/" + written);
      assert.equal(response.status, 302, written);
      assert.equal(response.headers.get("Location"), link, written);
    }
    const head = await ask(short, { method: "HEAD" });
    assert.deepEqual([head.status, head.headers.get("Location"), await head.text()], [302, link, ""]);
    for (const response of [head, await post("{}"), await ask("/x/none")]) {
      for (const [key, value] of Object.entries({ ...sent(), "Cache-Control": "no-store" })) assert.equal(response.headers.get(key), value, key);
      for (const [key] of response.headers) assert.ok(!key.startsWith("access-control"), key);
    }
  }
  assert.notEqual(await shorten("/#data=moons&seed=1"), await shorten("/#data=moons&seed=2"));
  // What lies in the store is the link and a day, and nothing of who made it.
  const store = await edge.host.getKVNamespace("LINKS");
  for (const { name, expiration } of (await store.list()).keys) {
    assert.match(await store.get(name), /^\d{4}-\d\d-\d\d \/(lab\/)?#[!-~]+$/);
    const days = (expiration - Date.now() / 1000) / 86400;
    assert.ok(days > 394 && days < 396, `kept for ${days} days`);
  }
});

test("what somebody has written into the store leads nowhere else", async () => {
  const store = await edge.host.getKVNamespace("LINKS");
  for (const value of ["2026-01-01 https://evil.example/", "2026-01-01 //evil.example/#a=1", "2026-01-01 /#a=1\r\nX: y", "/#a=1", "", "2026-01-01 /x/bababa-bababa-bababa"]) {
    await store.put("bababa-bababa-bababa", value);
    assert.equal((await ask("/x/bababa-bababa-bababa")).status, 404, value);
  }
});

test("a link that is followed after a month is kept for another year, and once", async () => {
  const store = await edge.host.getKVNamespace("LINKS"), id = "kakaka-kakaka-kakaka";
  const today = new Date().toISOString().slice(0, 10), ago = (/** @type {number} */ days) => new Date(Date.now() - days * 86400e3).toISOString().slice(0, 10);
  for (const [since, then] of [[ago(10), ago(10)], [ago(40), today]]) {
    await store.put(id, `${since} /#seed=1`, { expirationTtl: 86400 });
    assert.equal((await ask("/x/" + id)).status, 302);
    assert.equal(await store.get(id), `${then} /#seed=1`);
  }
});

// hostile are 200 requests and more that are refused, each with the answer.
function* hostile() {
  const good = JSON.stringify({ link: "/#seed=1" });
  const json = (/** @type {unknown} */ v) => JSON.stringify(v);
  for (const body of ["", " ", "{", "}", "null", "true", "0", "1e999", '""', "[]", "[[]]", "{}", "NaN", "undefined", "link=/#seed=1", "<link>", "\0", "\ufeff" + good, good + good, good + "x", good + ",", "[" + good + "]",
    '{"link":null}', '{"link":1}', '{"link":true}', '{"link":[]}', '{"link":["/#seed=1"]}', '{"link":{}}', '{"link":{"link":"/#seed=1"}}', '{"link":""}', "{'link':'/#seed=1'}", '{"link":"/#seed=1",}', '{"link":"/#seed=1\\ud800"'] ) yield [400, body];
  for (const extra of ["id", "path", "name", "expires", "kept", "url", "to", "__proto__", "constructor", "data", "rows", "file"]) yield [400, json({ link: "/#seed=1" }).replace("}", `,"${extra}":"kaliri-lokusu-surola"}`)];
  for (const value of ["-1", "1.5", "false", "[null]", '[{"link":"/#seed=1"}]', '{"path":"/#seed=1"}', '["/#seed=1"]', '{"0":"/"}']) yield [400, `{"link":${value}}`];
  for (const path of ["/x/kaliri-lokusu-surola", "kaliri-lokusu-surola", "/x/kaliri-lokusu-surola/#seed=1", "/X/kaliri-lokusu-surola#seed=1", "x/kaliri-lokusu-surola?to=/#seed=1"]) yield [400, json({ link: path })];
  for (const depth of [2, 5, 10, 100, 1000, 4000]) {
    yield [400, "[".repeat(depth)];
    yield [400, '{"link":'.repeat(depth).slice(0, 8000)];
    yield [400, '{"link":' + "[".repeat(depth) + "]".repeat(depth) + "}"];
    yield [400, '{"a":'.repeat(Math.min(depth, 1000)) + "1" + "}".repeat(Math.min(depth, 1000))];
  }
  for (const size of [9000, 10_000, 30_000, 60_000]) {
    yield [413, json({ link: "/#note=" + "n".repeat(size) })];
    yield [413, " ".repeat(size)];
    yield [413, "\0".repeat(size)];
  }
  yield [413, json({ link: "/#note=" + "ε".repeat(4000) })]; // written out, it is longer
  for (const where of ["https://evil.example/#seed=1", "//evil.example/#seed=1", "/\\evil.example#seed=1", "javascript:alert(1)#seed=1", "data:text/html,x#a=1", "\\\\evil.example#a=1", "/x/kaliri-lokusu-surola", "/x/kaliri-lokusu-surola#seed=1",
    "/api/links#seed=1", "/../#seed=1", "/./#seed=1", "/lab#seed=1", "/lab/../#seed=1", "/use/#seed=1", "/?a#seed=1", "#seed=1", "seed=1", "/", "/#", "/##", "/#privacy", "/#=", "/#&", "/#%", "/%23seed=1", " /#seed=1", "/ #seed=1", "/\r\n#seed=1", "/lab/#", "/lab/#x"]) yield [400, json({ link: where })];
  for (const set of ["data=nowhere", "epochs=many", "epochs=", "seed=-1", "seed=1e400", "steps=1.5", "rows=1,2,3", "csv.rows=1", "csv=1", "model=1", "model.kind=magic", "a.b.c.d.e.f=1", "no_privacy=maybe", "method=evil", "method=psac&wrong=1", "weights=AAAA", "file=x", "__proto__.x=1",
    "constructor=1", "max_grad_norm=NaN", "max_grad_norm=inf", "seed=1&%=1", "noise_multiplier=Infinity", "optimizer=evil", "accountant=none", "note.x=1", "threads=x", "scaling.kind=evil", "%00=1", "image=data:image/png;base64,AAAA"]) yield [400, json({ link: "/#" + set })];
  for (const set of ["lab.c=-1", "lab.c=0", "lab.c=NaN", "lab.c=1e999", "lab.c=x", "lab.step=-1", "lab.step=1e9", "lab.step=100001", "lab.batch=21", "lab.with=evil", "lab.with=auto-s,psac,constant", "lab.with=", "lab.lanes=", "lab.lanes=seed=1,2", "lab.lanes=max_grad_norm=1,1",
    "lab.lanes=max_grad_norm=1,2,3,4,5,6,7,8,9", "lab.lanes=max_grad_norm=%0d%0a", "lab.unknown=1", "lab.=1", "lesson=", "lesson=A B", "lesson=../x", "data=files", "method=value"]) yield [400, json({ link: "/lab/#" + set })];
  for (const type of ["", "text/plain", "text/plain;charset=UTF-8", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonp", "application/json, text/plain", "application/json; charset=utf-16", "application/json; q=1", "text/html", "image/png", "application/ld+json", "json"]) yield [415, good, { "Content-Type": type }];
  for (const coding of ["gzip", "br", "identity", "x"]) yield [415, good, { "Content-Encoding": coding }];
  for (const headers of [{ Origin: "https://evil.example" }, { Origin: "null" }, { Origin: "http://127.0.0.1" }, { "Sec-Fetch-Site": "cross-site" }, { "Sec-Fetch-Site": "same-site" }]) yield [403, good, headers];
  for (const method of ["PUT", "PATCH", "DELETE"]) yield [405, good, {}, method];
}

test("200 hostile bodies are refused, with words", async () => {
  const store = await edge.host.getKVNamespace("LINKS"), kept = async () => (await store.list()).keys.length;
  const was = await kept();
  let n = 0;
  for (const [status, body, headers, method] of hostile()) {
    n++;
    const what = `${method ?? "POST"} ${body.slice(0, 60)} ${JSON.stringify(headers ?? {})}`;
    const response = await exchange({ path: "/api/links", method: method ?? "POST", headers: { "Content-Type": "application/json", "CF-Connecting-IP": client(), ...headers }, body }).catch((e) => { throw new Error(`${what}, ${body.length} bytes: ${e}`); });
    assert.equal(response.status, status, `${what}: ${response.body}`);
    assert.ok(response.body.length > 20 && response.body.length < 20_000, `${what}: ${response.body}`);
    if (status === 405) assert.equal(response.headers.allow, "POST, OPTIONS");
  }
  assert.ok(n >= 200, `${n} were tried`);
  assert.equal(await kept(), was, "nothing of it is kept");
});

test("methods that a short link has not, and names that are none", async () => {
  const short = await shorten("/#seed=3");
  for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
    const response = await ask(short, { method });
    assert.deepEqual([response.status, response.headers.get("Allow")], [405, "GET, HEAD, OPTIONS"], method);
  }
  for (const [where, allow] of [[short, "GET, HEAD, OPTIONS"], ["/api/links", "POST, OPTIONS"]]) {
    const response = await ask(where, { method: "OPTIONS", headers: { Origin: "https://evil.example", "Access-Control-Request-Method": "POST" } });
    assert.deepEqual([response.status, response.headers.get("Allow"), await response.text()], [204, allow, ""]);
    assert.ok(![...response.headers.keys()].some((key) => key.startsWith("access-control")));
  }
  for (const method of ["GET", "HEAD"]) assert.equal((await ask("/api/links", { method })).status, 405);
  for (const name of ["", "x", "bababa-bababa", "bababa-bababa-bababx", short.slice(3) + "a", "..%2f..%2fetc", "%00", "%ff", "a".repeat(2000), "<null>", "bababa-bababa-bababa/more"]) {
    const response = await ask("/x/" + name);
    assert.equal(response.status, 404, name);
    assert.match(response.headers.get("Content-Type"), /^text\/plain/);
  }
  for (const where of ["/api/", "/api/link", "/api/links/", "/api/links/x", "/api/Links"]) assert.equal((await ask(where)).status, 404, where);
  assert.equal((await ask(short)).headers.get("Location"), "/#seed=3", "and it is as it was");
});

test("who makes too many short links waits, and nobody else", async () => {
  const make = (/** @type {string} */ from, /** @type {number} */ seed) => post(JSON.stringify({ link: `/#seed=${seed}` }), { "CF-Connecting-IP": from });
  // The host counts by the minutes of its clock: what a minute's end divided says nothing and is
  // asked again, by a household that has not asked yet.
  const minute = () => Math.floor(Date.now() / 60_000);
  for (let household = 0, whole = false; !whole; household++) {
    const began = minute(), statuses = [];
    for (let i = 0; i < 25; i++) {
      const response = await make(`2001:db8:${household}::${i.toString(16)}`, i);
      statuses.push(response.status);
      if (response.status !== 429) continue;
      assert.equal(response.headers.get("Retry-After"), "60");
      assert.match(await response.text(), /Wait a minute/);
    }
    whole = minute() === began;
    if (whole) assert.deepEqual(statuses, Array.from({ length: 25 }, (_, i) => (i < 10 ? 201 : 429)));
  }
  assert.equal((await make("2001:db8:ffff::1", 1)).status, 201, "another is not kept waiting");
});

// exchange asks once, by a connection of an agent if there is one, and sends headers and
// methods that fetch would not.
/** @param {{ path: string, method?: string, headers?: any, body?: string, agent?: http.Agent }} options @returns {Promise<{ status: number, headers: http.IncomingHttpHeaders, body: string }>} */
function exchange({ path, method = "GET", headers = {}, body, agent }) {
  const { hostname, port } = new URL(edge.url);
  return new Promise((resolve, reject) => {
    const request = http.request({ hostname, port, path, method, headers, agent }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part) => { text += part; });
      response.on("end", () => resolve({ status: response.statusCode, headers: response.headers, body: text })).on("error", reject);
    });
    request.on("error", reject).end(body);
  });
}

// SILENCE is after how many milliseconds without a word workerd breaks a connection off.
const SILENCE = 5000;

// counted is an agent for so many connections, and how often it made one: more often than that
// if the host broke one off.
/** @param {number} maxSockets */
function counted(maxSockets) {
  const agent = new http.Agent({ keepAlive: true, maxSockets }), connect = agent.createConnection;
  let made = 0;
  agent.createConnection = function (...given) {
    made++;
    return connect.apply(agent, given);
  };
  return { agent, made: () => made };
}

test("1,000 requests of all kinds over 20 connections are all answered", async () => {
  const json = (/** @type {string} */ body) => ({ path: "/api/links", method: "POST", body, headers: { "Content-Type": "application/json", "Content-Length": body.length } });
  const good = json('{"link":"/#seed=4"}');
  const kinds = /** @type {[number, any][]} */ ([
    [302, { path: await shorten("/#seed=4") }], [201, good], [200, { path: "/" }], [200, { path: "/app.js", headers: { "Accept-Encoding": "br" } }],
    [400, json('{"link":"/nowhere"}')], [415, { ...good, headers: { "Content-Type": "text/plain", "Content-Length": good.body.length } }], [413, json(" ".repeat(20_000))],
    [404, { path: "/x/none" }], [404, { path: "/nothing" }], [404, { path: "/api/none" }], [405, { ...good, path: "/x/none" }],
  ]);
  const { agent, made } = counted(20);
  const started = Date.now();
  // Twenty at a time, and then the next: workerd looks for what has come only when it has
  // nothing left to do, and breaks off a connection on which it saw nothing for 5 s. On a machine
  // so busy that two rounds took as long, that is to be expected, and a request is sent again.
  let last = started, now = started, longest = 0;
  for (let n = 0; n < 1000; n += 20) {
    await Promise.all(Array.from({ length: 20 }, async (_, i) => {
      const [status, kind] = kinds[(n + i) % kinds.length], send = () => exchange({ ...kind, headers: { ...kind.headers, "CF-Connecting-IP": client() }, agent });
      const response = await send().catch((e) => {
        if (e.code !== "ECONNRESET" || Date.now() - last < SILENCE) throw e;
        return send();
      });
      assert.equal(response.status, status, `request ${n + i}, ${kind.method ?? "GET"} ${kind.path}: ${response.body.slice(0, 300)}`);
    }));
    longest = Math.max(longest, Date.now() - last);
    [last, now] = [now, Date.now()];
  }
  agent.destroy();
  assert.ok(made() === 20 || longest >= SILENCE, `${made()} connections: some were broken off, though none can have been silent for more than ${longest} ms`);
  console.log(`# 1,000 requests over 20 connections took ${((Date.now() - started) / 1000).toFixed(1)} s`);
});

test("what is far too long is refused in words, and its connection is kept", async () => {
  const { agent, made } = counted(1);
  for (const size of [100_000, 1 << 20, 2 << 20, 4 << 20]) {
    for (const [status, headers] of /** @type {[number, any][]} */ ([[413, { "Content-Length": size }], [413, { "Transfer-Encoding": "chunked" }], [415, { "Content-Length": size, "Content-Type": "text/plain" }]])) {
      const response = await exchange({ path: "/api/links", method: "POST", agent, body: " ".repeat(size), headers: { "Content-Type": "application/json", "CF-Connecting-IP": client(), ...headers } });
      assert.equal(response.status, status, `${size} bytes, ${JSON.stringify(headers)}: ${response.body}`);
    }
  }
  agent.destroy();
  assert.equal(made(), 1, "no connection is broken off");
});

test("the page asks for a short link when its visitor does, says what it sends, and counts it", async (t) => {
  const browser = await launch();
  t.after(() => browser.close());
  const visit = async (/** @type {string} */ where) => open(await browser.newContext({ viewport: { width: 1280, height: 800 } }), edge.url + where); // until the browser is closed
  const page = await visit("/#data=moons&seed=11&steps=20");
  await page.locator("#counter", { hasText: "0 bytes sent" }).waitFor();
  /** @type {string[]} */
  const posted = [];
  page.on("request", (r) => { if (r.method() !== "GET") posted.push(`${r.method()} ${r.url().replace(edge.url, "")} ${r.postData()}`); });
  await page.click(".foot .qr");
  const [long, settings] = await eventually(async () => {
    const long = await page.textContent(".qr-link"), settings = long.replace(edge.url, "");
    assert.match(settings, /^\/#.*data=moons.*seed=11/);
    assert.ok((await page.textContent(".qr-sheet .help")).includes(settings), "what would be sent is shown");
    return [long, settings];
  });
  assert.deepEqual(posted, []);
  await page.click(".shorten");
  const short = await eventually(async () => {
    const short = await page.textContent(".qr-link");
    assert.match(short, /\/x\//);
    assert.deepEqual(posted, [`POST /api/links ${JSON.stringify({ link: settings })}`]);
    assert.equal(await page.locator(".shorten").count(), 0);
    return short;
  });
  await page.locator(".counter .popover pre", { hasText: "/api/links" }).waitFor({ state: "attached" });
  const there = await visit(short.replace(edge.url, ""));
  await eventually(() => assert.equal(there.url(), long));
  await there.waitForFunction(() => /** @type {HTMLInputElement | null} */ (document.querySelector("#f-seed"))?.value === "11");
  assert.deepEqual([...page.errors, ...there.errors], []);
  // A page without settings has nothing to keep.
  const bare = await visit("/help/");
  assert.equal(await bare.locator(".qr").count(), 0);
});

test("wrangler would deploy it, without a network", async () => {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), "clipscope-wrangler-"));
  const { stdout } = await promisify(execFile)(path.join(root, "web/edge/node_modules/.bin/wrangler"), ["deploy", "--config", path.join(root, "app/edge/wrangler.jsonc"), "--dry-run", "--outdir", path.join(home, "out")],
    { cwd: home, env: { ...process.env, HOME: home, CI: "1", WRANGLER_SEND_METRICS: "false", HTTPS_PROXY: "http://127.0.0.1:9" } });
  fs.rmSync(home, { recursive: true });
  for (const part of ["env.LINKS", "env.RATE", "env.ASSETS", "10 requests/60s"]) assert.ok(stdout.includes(part), `${part} is not in ${stdout}`);
});
