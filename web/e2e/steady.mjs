// Runs the page's suite several times and reports what did not pass every time, with every
// failure's trace, and the tests whose times vary most.
//
//   make steady N=6          six times on a machine that does nothing else
//   make steady N=3 LOAD=2   three times beside two processes that each keep a core busy
//
// FILES picks test files by a pattern of their names.
import { spawn } from "node:child_process";
import { setMaxListeners } from "node:events";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { run } from "node:test";
import { bound, root } from "./browser.mjs";

// As `make test-page` runs them.
const limits = { concurrency: 2, timeout: 3_600_000 };

// A signal ends the test files, too, before browser.mjs ends this process.
const ending = new AbortController();
setMaxListeners(0, ending.signal); // the runner adds one a file
for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM"])) process.prependOnceListener(signal, () => ending.abort());

const times = natural("N", 3), load = natural("LOAD", 0);
const dir = path.join(root, "web/e2e"), wanted = new RegExp(process.env.FILES ?? "");
const files = fs.readdirSync(dir).filter((name) => name.endsWith(".test.mjs") && wanted.test(name)).sort().map((name) => path.join(dir, name));
if (files.length === 0) fail(`no test file matches FILES=${process.env.FILES}`);

/** @param {string} name of an environment variable @param {number} otherwise */
function natural(name, otherwise) {
  const text = process.env[name] || String(otherwise);
  if (!/^\d+$/.test(text)) fail(`${name} is a whole number, not "${text}"`);
  return Number(text);
}

/** @param {string} why @returns {never} */
function fail(why) {
  console.error(`steady: ${why}`);
  process.exit(2);
}

/** @typedef {{ file: string, name: string, seconds: number[], failures: { round: number, trace: string }[], skipped: number }} Record */

/** @type {Map<string, Record>} */
const records = new Map();

/** @param {any} data of a test's event @returns {Record} */
function recordOf(data) {
  const file = path.basename(data.file ?? data.name), key = `${file}: ${data.name}`;
  const record = records.get(key) ?? { file, name: data.name, seconds: [], failures: [], skipped: 0 };
  records.set(key, record);
  return record;
}

/** @param {any} error of a test's details @returns {string} */
const trace = (error) => [error?.cause?.stack ?? error?.stack ?? String(error)].flatMap((text) => String(text).split("\n")).map((line) => `    ${line}`).join("\n");

// round runs all files once.
/** @param {number} number @returns {Promise<{ tests: number, failed: number, skipped: number, seconds: number }>} */
async function round(number) {
  const sum = { tests: 0, failed: 0, skipped: 0, seconds: 0 }, begun = performance.now();
  for await (const { type, data } of run({ files, ...limits, signal: ending.signal })) {
    if (ending.signal.aborted) break; // what a signal ends has not failed
    if (type !== "test:pass" && type !== "test:fail") continue;
    const { details } = data, record = recordOf(data);
    sum.tests++;
    if (data.skip !== undefined) {
      sum.skipped++;
      record.skipped++;
      continue;
    }
    record.seconds.push(details.duration_ms / 1000);
    if (type === "test:pass") continue;
    sum.failed++;
    record.failures.push({ round: number, trace: trace(details.error) });
    console.log(`\nround ${number}, ${record.file}: ${record.name}\n${record.failures.at(-1)?.trace}`);
  }
  return { ...sum, seconds: (performance.now() - begun) / 1000 };
}

for (let i = 0; i < load; i++) bound(spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }));

console.log(`${files.length} files, ${times} times, beside ${load} busy processes, on ${os.availableParallelism()} cores`);
for (let i = 1; i <= times && !ending.signal.aborted; i++) {
  const { tests, failed, skipped, seconds } = await round(i);
  if (ending.signal.aborted) console.log(`round ${i} was called off`);
  else console.log(`round ${i}: ${tests} tests, ${failed} failed, ${skipped} skipped, ${Math.round(seconds)} s`);
}

const all = [...records.values()], unsteady = all.filter((r) => r.failures.length > 0);
const off = ending.signal.aborted;
console.log(unsteady.length === 0 ? `\nEvery test ${off ? "that ended " : ""}passed every time.` : "\nDid not pass every time:");
for (const { file, name, failures } of unsteady) console.log(`  ${failures.length} of ${times}  ${file}: ${name} (round ${failures.map((f) => f.round).join(", ")})`);

const spread = ({ seconds }) => Math.max(...seconds) - Math.min(...seconds);
const varying = all.filter((r) => r.seconds.length > 1).sort((a, b) => spread(b) - spread(a)).slice(0, 10);
if (varying.length > 0) console.log("\nTimes that vary most, in seconds:");
for (const record of varying) console.log(`  ${record.seconds.map((s) => s.toFixed(1)).join(" ")}  ${record.file}: ${record.name}`);

process.exit(unsteady.length === 0 && !off ? 0 : 1);
