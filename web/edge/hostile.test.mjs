// Attacks on the short links in the host's own runtime that need a socket of one's own: bodies
// and framings that no browser sends, names written in every way, clients that stall, flood and
// race. links.test.mjs has the bodies that a page could send.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { after, before, test } from "node:test";
import zlib from "node:zlib";
import { eventually } from "../e2e/browser.mjs";
import { root, start } from "./edge.mjs";

/** @type {Awaited<ReturnType<typeof start>>} */
let edge;
before(async () => { edge = await start(); });
after(() => edge.host.dispose());

let clients = 0;
const client = () => `10.9.${++clients >> 8}.${clients % 256}`;
const GOOD = '{"link":"/#seed=1"}';

/** @typedef {{ status: number, headers: Map<string, string>, body: string }} Answer status 0 is for a connection closed without one */

// socket sends bytes as they are and resolves with the first answer, or when the other side ends.
/** @param {(string | Buffer)[]} pieces @returns {Promise<Answer>} */
function socket(...pieces) {
  const { hostname, port } = new URL(edge.url);
  return new Promise((resolve) => {
    let got = Buffer.alloc(0);
    const c = net.connect(Number(port), hostname);
    const end = () => {
      c.destroy();
      const text = got.toString("latin1"), at = text.indexOf("\r\n\r\n"), [line, ...rest] = text.slice(0, at).split("\r\n");
      resolve({ status: at < 0 ? 0 : Number(line.split(" ")[1]), headers: new Map(rest.map((h) => [h.slice(0, h.indexOf(":")).toLowerCase(), h.slice(h.indexOf(":") + 1).trim()])), body: text.slice(at + 4) });
    };
    c.on("data", (part) => {
      got = Buffer.concat([got, part]);
      const text = got.toString("latin1"), at = text.indexOf("\r\n\r\n"), length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, at));
      if (at >= 0 && (length ? got.length >= at + 4 + Number(length[1]) : text.endsWith("\r\n0\r\n\r\n") || / (204|302|304) /.test(text.slice(0, 14)))) end();
    });
    c.on("end", end).on("error", end);
    c.on("connect", () => { for (const p of pieces) c.write(p); });
  });
}

/** @param {string} line @param {string[]} headers @param {string | Buffer} [body] */
const request = (line, headers, body = "") => socket(`${line} HTTP/1.1\r\n${[`Host: ${new URL(edge.url).host}`, ...headers].join("\r\n")}\r\n\r\n`, body);

/** @param {string | Buffer} body @param {string[]} [headers] */
const post = (body, headers = []) => request("POST /api/links", ["Content-Type: application/json", `Content-Length: ${Buffer.byteLength(body)}`, `CF-Connecting-IP: ${client()}`, ...headers], body);

/** @param {...(string | Buffer)} parts */
const chunked = (...parts) => Buffer.concat([...parts.map((p) => Buffer.concat([Buffer.from(`${Buffer.byteLength(p).toString(16)}\r\n`), Buffer.from(p), Buffer.from("\r\n")])), Buffer.from("0\r\n\r\n")]);

const kept = async () => (await (await edge.host.getKVNamespace("LINKS")).list()).keys.map((k) => k.name).sort();

// Who is wrong learns it in words, and of nobody: no stack, no source, no path of a machine.
/** @param {Answer} answer @param {string} what */
function decent(answer, what) {
  assert.doesNotMatch(answer.body, /goroutine|panic|\.go:|\.mjs:|wasm|\/(home|root|work|tmp)\//, `${what}: ${answer.body}`);
  assert.ok(answer.body.length < 2000, `${what}: ${answer.body.length} bytes`);
}

/** @returns {Generator<[number, string | Buffer, string[]?]>} */
function* bodies() {
  const link = (/** @type {string} */ text) => `{"link":${text}}`;
  // One name twice, and names that are one only to some readers.
  yield [400, '{"link":"/#seed=1","link":"/#seed=2"}'];
  yield [400, '{"link":"/#seed=1","lin\\u006b":"https://evil.example/"}'];
  yield [400, '{"link":"https://evil.example/","link":"/#seed=1"}'];
  for (const name of ["Link", "LINK", "lin\\u212a", "link\\u0000", " link", "link ", "\\u006cink2", "lınk", "ｌｉｎｋ", "l\\u0069nk\\u200b", "", "0", "length", "toString", "hasOwnProperty", "__proto__", "prototype", "constructor.prototype", "then", "toJSON", "$ref", "@type"]) yield [400, `{"${name}":"/#seed=1"}`];
  yield [400, `{${Array.from({ length: 800 }, (_, i) => `"a${i}":0`).join()}}`];
  yield [400, `{"${"\\u0001".repeat(1300)}":1}`];
  yield [400, `{"${"é".repeat(4000)}":1}`];
  // Text that is none, or hides.
  for (const text of ['"\\ud800"', '"/#note=\\ud800&seed=x"', '"\\udc00/#seed=1"', '"\\u0000/#seed=1"', '"/#seed=1\\u0000"', '"/\\u0000#seed=1"', '"\\u202e/#seed=1"', '"\\ufeff/#seed=1"', '"\\u2028/#seed=1"', '"\\t/#seed=1"', '"/\\n/#seed=1"', '"\\u002f\\u002fevil.example/#seed=1"', '"/#seed=\\uff11"', '"/#seed=١"', '"/＃seed=1"', '"／#seed=1"', '"/%2523seed=1"', '"/\\u003f#seed=1"',
    '"/;@evil.example/#seed=1"', '"/@evil.example/#seed=1"', '"/.evil.example/#seed=1"', '"http:/#seed=1"', '"https:#seed=1"', '"///evil.example/#seed=1"', '"/%2f/evil.example#seed=1"', '"/%5cevil.example#seed=1"', '"\\\\/\\\\/evil.example#seed=1"', '"/lab//#lesson=a"', '"/LAB/#lesson=gradients"', '"/lab/?x#lesson=gradients"', '"/help/#seed=1"', '"/web/app.wasm#seed=1"', '"/api/links#seed=1"', '"/x/kaliri-lokusu-surola#seed=1"', '"blob:null/#seed=1"', '"view-source:/#seed=1"', '"vbscript:x#seed=1"', '"about:blank#seed=1"', '"file:///etc/passwd#seed=1"', '"ws://x/#seed=1"'])
    yield [400, link(text)];
  // Other encodings.
  yield [400, Buffer.from(GOOD, "utf16le")];
  yield [400, Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(GOOD, "utf16le")])];
  yield [400, Buffer.from(`{"link":"/#note=\xe9"}`, "latin1")];
  for (const bytes of [[0xc0, 0xaf], [0xe0, 0x80, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xf8, 0x88, 0x80, 0x80, 0x80], [0x80], [0xff], [0xfe]]) yield [400, Buffer.concat([Buffer.from('{"link":"/#note='), Buffer.from(bytes), Buffer.from('"}')])];
  yield [400, Buffer.alloc(8000)];
  yield [400, Buffer.from(Array.from({ length: 8000 }, (_, i) => (i * 137 + (i >> 3)) % 256))];
  yield [400, "{}\n" + GOOD];
  yield [400, GOOD + "\0"];
  yield [400, `/* */${GOOD}`];
  yield [400, `{"link":"/#seed=1"/**/}`];
  yield [400, "\x1e" + GOOD];
  yield [400, `)]}'\n${GOOD}`];
  yield [400, "--x\r\nContent-Disposition: form-data; name=\"link\"\r\n\r\n/#seed=1\r\n--x--"];
  // Numbers and depth.
  yield [400, `{"link":${"9".repeat(8000)}}`];
  yield [400, `{"link":-0.${"0".repeat(8000)}1e-999999999}`];
  yield [400, `{"link":1e${"9".repeat(4000)}}`];
  yield [400, "[".repeat(8300)];
  yield [400, '{"link":'.repeat(900) + "0" + "}".repeat(900)];
  yield [400, `{"link":[${"[],".repeat(2500)}[]]}`];
  yield [400, `{"link":{${Array.from({ length: 700 }, (_, i) => `"k${i}":{}`).join()}}}`];
  // What is packed is not unpacked.
  const bomb = zlib.gzipSync(Buffer.alloc(1 << 23)), brotli = zlib.brotliCompressSync(Buffer.alloc(1 << 23));
  yield [400, bomb.subarray(0, 8000)];
  yield [415, bomb.subarray(0, 8000), ["Content-Encoding: gzip"]];
  yield [415, brotli, ["Content-Encoding: br"]];
  yield [415, zlib.deflateSync(Buffer.from(GOOD)), ["Content-Encoding: deflate"]];
  yield [415, GOOD, ["Content-Encoding: gzip, identity"]];
  yield [415, GOOD, ["Content-Encoding: \xe9"]];
  // Kinds, twice and in disguise.
  yield [415, GOOD, ["Content-Type: application/json"]];
  yield [415, GOOD, ["Content-Type: text/plain"]];
  // Who sends it.
  for (const origin of ["http://evil.example", "http://127.0.0.1.evil.example", "HTTP://LOCALHOST", "null", "http://[::1]", "file://", "http://user@127.0.0.1", "://", "a b", "http://127.0.0.1:1", "\xe9"]) yield [403, GOOD, [`Origin: ${origin}`]];
  yield [403, GOOD, [`Origin: ${edge.url}`, "Origin: http://evil.example"]];
  for (const site of ["cross-site", "same-site", "CROSS-SITE", "same-origin, cross-site", "x"]) yield [403, GOOD, [`Sec-Fetch-Site: ${site}`]];
}

test("hostile bodies are refused, in few words, and nothing is kept", async () => {
  const was = await kept();
  const all = [...bodies()];
  for (let i = 0; i < all.length; i += 4) {
    await Promise.all(all.slice(i, i + 4).map(async ([status, body, headers]) => {
      const what = `${typeof body === "string" ? body.slice(0, 80) : `${body.length} bytes`} ${headers ?? ""}`, answer = await post(body, headers);
      assert.equal(answer.status, status, `${what}: ${answer.body}`);
      decent(answer, what);
    }));
  }
  assert.ok(all.length >= 120, `${all.length} were tried`);
  assert.deepEqual(await kept(), was);
});

test("what a text in the right form has in it is written so that it stays within the link", async () => {
  // Each is taken, and leads to this site with all that could be a header or another address escaped.
  for (const note of ["\\r\\nSet-Cookie: a=1", "\\u0000", "\\ud800", "\\u202egnp.exe", "</script><script>alert(1)</script>", "\\u2028", "#seed=2", "%0d%0aX: y", "é\\ud83d\\ude00", "__proto__", "a&data=nowhere"]) {
    const answer = await post(`{"link":"/#note=${note.replaceAll("%", "%25").replaceAll("&", "%26")}&seed=1"}`);
    if (answer.status === 400) {
      decent(answer, note);
      continue;
    }
    assert.equal(answer.status, 201, `${note}: ${answer.body}`);
    const led = await request(`GET ${JSON.parse(answer.body).path}`, []);
    assert.equal(led.status, 302, note);
    assert.match(led.headers.get("location"), /^\/#[!-~]+$/, note);
    assert.ok(!led.headers.has("set-cookie") && !led.headers.has("x"), note);
    assert.equal(new URL(led.headers.get("location"), "https://a.example").origin, "https://a.example");
  }
});

test("framings that no browser sends end in an answer or a closed connection, and the next is answered", async () => {
  const was = await kept(), host = new URL(edge.url).host, json = "Content-Type: application/json\r\n", from = () => `CF-Connecting-IP: ${client()}\r\n`;
  const head = (/** @type {string} */ more, line = "POST /api/links HTTP/1.1") => `${line}\r\nHost: ${host}\r\n${json}${from()}${more}\r\n`;
  let n = 0;
  for (const [what, pieces, statuses] of /** @type {[string, (string | Buffer)[], number[]][]} */ ([
    ["two lengths", [head("Content-Length: 19\r\nContent-Length: 5\r\n"), GOOD], [0, 400]],
    ["a length and chunks", [head("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n"), chunked("nonsense")], [0, 400]],
    ["a negative length", [head("Content-Length: -1\r\n"), GOOD], [0, 400, 411, 501]],
    ["a length with a sign", [head("Content-Length: +19\r\n"), GOOD], [0, 400, 501]],
    ["a length in hexadecimal", [head("Content-Length: 0x13\r\n"), GOOD], [0, 400, 501]],
    ["a length beyond 64 bits", [head("Content-Length: 99999999999999999999999\r\n"), GOOD], [0, 400, 413]],
    ["a length near 2⁶³", [head("Content-Length: 9223372036854775807\r\n"), GOOD], [413]],
    ["a chunk that is no number", [head("Transfer-Encoding: chunked\r\n"), "zz\r\nx\r\n0\r\n\r\n"], [0, 400]],
    ["a chunk of 2⁶⁴ bytes", [head("Transfer-Encoding: chunked\r\n"), "ffffffffffffffff\r\nx\r\n0\r\n\r\n"], [0, 400, 408, 413]],
    ["chunks with extensions", [head("Transfer-Encoding: chunked\r\n"), `8;a="b"\r\nnonsense\r\n0\r\n\r\n`], [0, 400]],
    ["trailers", [head("Transfer-Encoding: chunked\r\nTrailer: Content-Type\r\n"), "8\r\nnonsense\r\n0\r\nContent-Type: application/json\r\n\r\n"], [0, 400]],
    ["2,000 chunks of one byte", [head("Transfer-Encoding: chunked\r\n"), chunked(...Array(2000).fill(" "))], [400, 408]],
    ["an unknown coding of the transfer", [head("Transfer-Encoding: gzip, chunked\r\n"), chunked("x")], [0, 400, 501]],
    ["chunked, twice", [head("Transfer-Encoding: chunked, chunked\r\n"), chunked("x")], [0, 400, 501]],
    ["a header of 100 kB", [head(`X-Long: ${"x".repeat(100_000)}\r\nContent-Length: 0\r\n`)], [0, 400, 413, 414, 431]],
    ["5,000 headers", [head("X: y\r\n".repeat(5000) + "Content-Length: 0\r\n")], [0, 400, 413, 431]],
    ["a header without a name", [head(": x\r\nContent-Length: 0\r\n")], [0, 400]],
    ["a header with NUL", [head("X: a\0b\r\nContent-Length: 0\r\n")], [0, 400]],
    ["a folded header", [head("X: a\r\n b\r\nContent-Length: 0\r\n")], [0, 400]],
    ["a line end alone", [head("X: a\nY: b\r\nContent-Length: 0\r\n")], [0, 400]],
    ["a path of 100 kB", [head("", `GET /x/${"a".repeat(100_000)} HTTP/1.1`)], [0, 400, 404, 413, 414, 431]],
    ["another version", [head("Content-Length: 0\r\n", "POST /api/links HTTP/9.9")], [0, 400, 505]],
    ["the preface of HTTP/2", ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"], [0, 400, 501, 505]],
    ["TLS", [Buffer.from([22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3, 13, 10, 13, 10])], [0, 400]],
    ["no host", ["POST /api/links HTTP/1.1\r\nContent-Length: 0\r\n\r\n"], [0, 400, 415]],
    ["a method of 10 kB", [head("Content-Length: 0\r\n", `${"A".repeat(10_000)} /api/links HTTP/1.1`)], [0, 400, 405, 501]],
    ["a socket of the web", [head("Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n", "GET /api/links HTTP/1.1")], [400, 405, 426, 500, 501]],
    ["a tunnel", [`CONNECT evil.example:443 HTTP/1.1\r\nHost: ${host}\r\n\r\n`], [0, 400, 404, 405, 501]],
    ["an asterisk", [`OPTIONS * HTTP/1.1\r\nHost: ${host}\r\n\r\n`], [0, 204, 400, 404, 405, 200]],
    ["TRACE", [head("Content-Length: 0\r\n", "TRACE /api/links HTTP/1.1")], [0, 400, 405, 501]],
    ["a body under GET", [head("Content-Length: 19\r\n", "GET /x/none HTTP/1.1"), GOOD], [404]],
    ["a body under DELETE", [head("Content-Length: 19\r\n", "DELETE /api/links HTTP/1.1"), GOOD], [405]],
    ["a link as a query", [head("Content-Length: 0\r\n", "POST /api/links?link=/%23seed=1 HTTP/1.1")], [400]],
    ["the method overridden", [head("X-HTTP-Method-Override: POST\r\n", "GET /api/links HTTP/1.1")], [405]],
  ])) {
    n++;
    const answer = await socket(...pieces);
    // What workerd itself cannot read it refuses before any Worker is asked.
    const own = answer.status >= 400 && /^(Internal Server Error$|ERROR: )/.test(answer.body);
    assert.ok(statuses.includes(own ? 0 : answer.status), `${what}: ${answer.status} ${answer.body.slice(0, 200)}`);
    decent(answer, what);
    if (n % 5 === 0) assert.equal((await request("GET /x/none", [])).status, 404, `after ${what}`);
  }
  assert.deepEqual(await kept(), was);
});

test("no request of several kinds gets more than its own answer", async () => {
  const made = await post(GOOD), short = JSON.parse(made.body).path;
  for (const headers of [["Range: bytes=0-3"], ["If-None-Match: *"], ["If-Match: \"x\""], ["If-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT"], ["Cookie: " + "a=b; ".repeat(1000)], ["Accept: image/png"], ["X-Forwarded-Host: evil.example", "X-Forwarded-Proto: javascript", "Forwarded: host=evil.example"], ["X-Original-URL: /x/none", "X-Rewrite-URL: /x/none"], ["Expect: 100-continue"], ["Purpose: prefetch"], ["Service-Worker: script"]]) {
    const answer = await request(`GET ${short}`, headers);
    assert.deepEqual([answer.status, answer.headers.get("location"), answer.headers.get("cache-control")], [302, "/#seed=1", "no-store"], headers.join());
    for (const name of answer.headers.keys()) assert.ok(!/^(access-control|set-cookie|etag|last-modified|server-timing)/.test(name), `${headers}: ${name}`);
  }
  for (const headers of [["Origin: http://evil.example", "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: content-type"], ["Origin: null", "Access-Control-Request-Private-Network: true", "Access-Control-Request-Method: POST"]]) {
    const answer = await request("OPTIONS /api/links", headers);
    assert.equal(answer.status, 204);
    for (const name of answer.headers.keys()) assert.ok(!name.startsWith("access-control"), name);
  }
});

test("a name is found as it is heard, and as nothing else", async () => {
  const store = await edge.host.getKVNamespace("LINKS"), name = "bakitu-fonisa-rulabo";
  await store.put(name, `${new Date().toISOString().slice(0, 10)} /#seed=42`);
  const odd = ["b\u0430kitu-fonisa-rulabo", "bakitu\u200b-fonisa-rulabo", "bakitu\u00ad-fonisa-rulabo", "ｂakitu-fonisa-rulabo", "bakıtu-fonisa-rulabo", "ba\u212aitu-fonisa-rulabo", "bakitu–fonisa–rulabo", "ba\u0301kitu-fonisa-rulabo", "bakitu\u0000-fonisa-rulabo", "bakitu\n-fonisa-rulabo", "bakitu;-fonisa-rulabo", "bakitu,fonisa,rulabo", "bakitu\\fonisa\\rulabo", "*", "ba*", "bakitu-fonisa-", "bakitu-fonisa-rulab", "bakitu-fonisa-rulaboo", "obaluR-asinof-utikab", "null", "<null>", "undefined", "NaN", "__proto__", "constructor", "list", "...", "LINKS", "0", "-1", "9".repeat(40), "ba".repeat(9) + "\0"];
  const raw = ["%2e%2e/api/links", "..%2fapi%2flinks", "%252e%252e", "%", "%zz", "%c0%af", "%ff%fe", "%00bakitu-fonisa-rulabo", "bakitu-fonisa-rulabo%00", "bakitu-fonisa-rulabo%2500", "bakitu-fonisa-rulabo/..", "bakitu-fonisa-rulabo//", "bakitu-fonisa-rulabo/x", "./x/none", "bakitu-fonisa-rulabo.html", "bakitu-fonisa-rulabo%23", "bakitu-fonisa-rulabo%3f", "x/bakitu-fonisa-rulabo", "%62%61"];
  let n = 0;
  for (const at of [...odd.map((o) => encodeURIComponent(o)), ...raw]) {
    n++;
    const answer = await request(`GET /x/${at}`, []);
    assert.ok([400, 404, 405].includes(answer.status), `${at}: ${answer.status} ${answer.headers.get("location")}`);
    decent(answer, at);
    assert.ok(!answer.headers.has("location"), at);
  }
  for (const at of [name, name.toUpperCase(), "%62akitu-fonisa-rulabo", "bakitu.fonisa.rulabo", `${name}?x=1`, `${name}/?x#y`]) {
    n++;
    assert.equal((await request(`GET /x/${at.replace(/#.*/, "")}`, [])).headers.get("location"), "/#seed=42", at);
  }
  assert.ok(n >= 55, `${n} names`);
});

test("names that are guessed or counted through find nothing, and tell nothing by their answers", async () => {
  const consonants = "bfklnrst", vowels = "aiou", names = Array.from({ length: 32 }, (_, i) => "bababa-bababa-baba" + consonants[i % 8] + vowels[i >> 3]);
  const answers = await Promise.all(names.map((n) => request(`GET /x/${n}`, [])));
  for (const [i, a] of answers.entries()) assert.deepEqual([a.status, a.body.replace(names[i], "")], [404, answers[0].body.replace(names[0], "")], names[i]);
});

test("writers of one link and of many at once have each their own, while they are read", async () => {
  const store = await edge.host.getKVNamespace("LINKS"), was = new Set(await kept());
  const send = (/** @type {number} */ seed) => post(`{"link":"/#data=moons&seed=${seed}"}`);
  const answers = await Promise.all([...Array.from({ length: 12 }, () => send(7001)), ...Array.from({ length: 12 }, (_, i) => send(7100 + i))]);
  const paths = answers.map((a) => JSON.parse(a.body).path);
  assert.equal(new Set(paths.slice(0, 12)).size, 1, "one link has one name");
  assert.equal(new Set(paths.slice(12)).size, 12, "each link has its own");
  assert.equal((await kept()).filter((k) => !was.has(k)).length, 13);
  // Read and written at the same time: what leads anywhere leads to what was written.
  const name = paths[0].slice(3), value = await store.get(name), other = value.replace(/^\S+/, "2026-01-01");
  const both = await Promise.all(Array.from({ length: 24 }, async (_, i) => {
    if (i % 3 === 0) await store.put(name, i % 2 ? value : other);
    return i % 3 === 1 ? send(7001) : request(`GET ${paths[0]}`, []);
  }));
  for (const a of both) assert.ok(a.status === 201 && JSON.parse(a.body).path === paths[0] || a.status === 302 && a.headers.get("location") === "/#data=moons&seed=7001", `${a.status} ${a.body}`);
  // A name that somebody else's link has meanwhile is left to that.
  await store.put(name, "2026-11-01 /#seed=5");
  const moved = JSON.parse((await send(7001)).body).path;
  assert.notEqual(moved, paths[0]);
  assert.equal(await store.get(name), "2026-11-01 /#seed=5");
  await store.delete(name);
  assert.equal((await request(`GET ${moved}`, [])).headers.get("location"), "/#data=moons&seed=7001");
});

test("who sends half a body is answered, and holds nothing up", async () => {
  // Each says that more comes, and nothing does.
  const head = (/** @type {string} */ more) => `POST /api/links HTTP/1.1\r\nHost: ${new URL(edge.url).host}\r\nCF-Connecting-IP: ${client()}\r\n${more}\r\n`;
  const stalled = [
    socket(head("Content-Type: application/json\r\nContent-Length: 100\r\n"), '{"link":'),
    socket(head("Content-Type: application/json\r\nContent-Length: 100\r\n")),
    socket(head("Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n"), "5\r\n{\"lin\r\n"),
    socket(head("Content-Type: text/plain\r\nContent-Length: 100\r\n"), "x"),
    socket(head("Content-Type: application/json\r\nOrigin: http://evil.example\r\nContent-Length: 100\r\n"), "x"),
    socket(head("Content-Type: application/json\r\nContent-Length: 100000\r\n"), "x"),
  ];
  assert.equal((await post(GOOD)).status, 201, "another is answered meanwhile");
  const answers = await Promise.all(stalled);
  assert.deepEqual(answers.map((a) => a.status), [408, 408, 408, 415, 403, 413]);
  for (const a of answers) decent(a, String(a.status));
  assert.match(answers[0].body, /Send it again/);
});

test("nothing of who asks for what is logged", () => {
  const config = JSON.parse(fs.readFileSync(path.join(root, "app/edge/wrangler.jsonc"), "utf8").replace(/^\s*\/\/.*$/gm, ""));
  assert.deepEqual([config.observability, config.logpush, config.tail_consumers], [{ enabled: false }, false, undefined]);
  for (const name of ["main.go", "links/links.go", "links/id.go"]) assert.doesNotMatch(fs.readFileSync(path.join(root, "app/edge", name), "utf8"), /"console"|\bprintln?\(|\blog\.|fmt\.Print|os\.Std/, name);
});

test("a body without an end is answered before its end", async () => {
  const { hostname, port } = new URL(edge.url), c = net.connect(Number(port), hostname);
  let sent = 0, got = "";
  const answered = new Promise((resolve) => {
    c.on("data", (d) => {
      got += d.toString("latin1");
      resolve(undefined);
    }).on("end", resolve).on("error", resolve);
  });
  c.write(`POST /api/links HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nCF-Connecting-IP: ${client()}\r\n\r\n`);
  const piece = Buffer.concat([Buffer.from("10000\r\n"), Buffer.alloc(1 << 16, " "), Buffer.from("\r\n")]);
  let over = false;
  answered.then(() => { over = true; });
  for (; !over && sent < 64 << 20; sent += 1 << 16) if (!c.write(piece)) await Promise.race([answered, new Promise((r) => c.once("drain", r))]);
  await answered;
  c.destroy();
  assert.match(got, /^HTTP\/1.1 413 /, got.slice(0, 100));
  assert.ok(sent < 32 << 20, `${sent} bytes were taken`);
});

// resident is the memory of the host's process in MB.
const resident = () => execFileSync("ps", ["-eo", "ppid,rss,comm"], { encoding: "utf8" }).split("\n").map((l) => l.trim().split(/\s+/)).filter(([parent, , name]) => Number(parent) === process.pid && name?.startsWith("workerd")).reduce((sum, [, kb]) => sum + Number(kb) / 1024, 0);

test("a flood leaves memory as it was, and one who floods is refused", async (t) => {
  const flood = async (/** @type {number} */ n) => {
    const statuses = new Map();
    for (let i = 0; i < n; i += 10) {
      for (const a of await Promise.all(Array.from({ length: 10 }, (_, k) => request("POST /api/links", ["Content-Type: application/json", `Content-Length: ${GOOD.length}`, `CF-Connecting-IP: 2001:db8:77::${(i + k).toString(16)}`], GOOD)))) statuses.set(a.status, (statuses.get(a.status) ?? 0) + 1);
    }
    return statuses;
  };
  await flood(50);
  const before = resident(), statuses = await flood(80), after = resident();
  assert.ok(before > 10, "the process was found");
  t.diagnostic(`memory: ${before.toFixed(0)} MB became ${after.toFixed(0)}`);
  assert.ok(after < before + 150, `${before.toFixed(0)} MB became ${after.toFixed(0)}`);
  assert.ok(statuses.get(429) >= 50 && [...statuses.keys()].every((s) => s === 429 || s === 201), [...statuses].join(" "));
  await eventually(async () => assert.equal((await post(GOOD)).status, 201));
});
