// How fast a tab reads tables: CSV and Parquet of so many megabytes, what the trainer's worker
// then holds, and the longest time in which the page drew no frame.
//
//	make bench            or: node web/bench/read.mjs [megabytes of CSV …, default 53 500]
import { parquetWriteBuffer } from "hyparquet-writer";
import { launch, open, serve } from "../e2e/browser.mjs";
import { say, write } from "./report.mjs";

const sizes = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [53, 500];
const server = await serve(), browser = await launch();

// columns of so many rows: numbers whole and not, days, and texts that come again.
/** @param {number} rows */
function columns(rows) {
  let seed = 7;
  const unit = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  /** @param {(i: number) => any} value */
  const of = (value) => Array.from({ length: rows }, (_, i) => value(i));
  return {
    age: of(() => 18 + Math.floor(70 * unit())), income: of(() => Math.round(1e7 * unit()) / 100), hours: of(() => Math.floor(60 * unit())),
    city: of(() => ["Berlin", "Paris", "London", "Rome"][Math.floor(4 * unit())]), balance: of(() => Math.round(1e8 * (unit() - 0.5)) / 1e4),
    since: of(() => `2020-${String(1 + Math.floor(12 * unit())).padStart(2, "0")}-${String(1 + Math.floor(28 * unit())).padStart(2, "0")}`),
    score: of(() => Math.round(1e6 * unit()) / 1e6), visits: of(() => Math.floor(100 * unit())), bought: of(() => unit() < 0.5 ? "yes" : "no"),
  };
}

/** @param {any} page @param {string} name @param {{ part: string, head: string, times: number }} file part is in base64 and stands there so many times */
const read = (page, name, file) => page.evaluate(async ([name, { part, head, times }]) => {
  const bytes = new Blob([Uint8Array.from(atob(part), (c) => c.charCodeAt(0))]), file = new File([head, ...Array(times).fill(bytes)], name);
  let last = performance.now(), still = 0, on = true;
  const frame = () => {
    const now = performance.now();
    still = Math.max(still, now - last);
    last = now;
    if (on) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  const from = performance.now();
  const data = await clipscope.open({ train: [file] }, { label: "bought" });
  const seconds = (performance.now() - from) / 1000;
  on = false;
  const run = await clipscope.train({ steps: 1, noise_multiplier: 1, model: { kind: "softmax" }, expected_batch_size: 10, scaling: { kind: "none" } }, data, { paused: true, anyway: true }), memory = (await run.memory()).system_bytes;
  run.dispose();
  data.close();
  return { seconds, still, memory, rows: data.summary.rows + data.summary.test_rows, size: file.size };
}, [name, file]);

try {
  const page = await open(await browser.newContext(), server.url + "help");
  const some = columns(10_000), names = Object.keys(some);
  const text = Array.from({ length: 10_000 }, (_, i) => names.map((n) => some[n][i]).join(",") + "\n").join("");
  /** @type {[string, { part: string, head: string, times: number }][]} */
  const files = sizes.map((mb) => [`CSV of ${mb} MB`, { part: Buffer.from(text).toString("base64"), head: names.join(",") + "\n", times: Math.ceil(mb * 1e6 / text.length) }]);
  const table = parquetWriteBuffer({ columnData: /** @type {any} */ (Object.entries(columns(500_000)).map(([name, data]) => ({ name, data }))), rowGroupSize: 100_000 });
  files.push(["Parquet of 500,000 rows", { part: Buffer.from(table).toString("base64"), head: "", times: 1 }]);
  for (const [name, file] of files) {
    const r = await read(page, name.startsWith("CSV") ? "t.csv" : "t.parquet", file);
    say(`read/${name}`, r.size / 1e6 / r.seconds, "MB/s");
    say(`read/${name}, rows`, r.rows / r.seconds, "rows/s");
    say(`read/${name}, memory`, r.memory / 1e6, "MB");
    say(`read/${name}, longest time without a frame`, r.still, "ms");
  }
  write(browser.version(), "read.json");
} finally {
  server.close();
  await browser.close();
}
