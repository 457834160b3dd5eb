// What the benchmarks say, one line a figure, and the file that keeps them with the
// machine they are of.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { results, root } from "../e2e/browser.mjs";

export const median = (/** @type {number[]} */ x) => x.toSorted((a, b) => a - b)[x.length >> 1];

/** @type {{ name: string, value: number, unit: string }[]} */
const figures = [];

// say prints a figure and keeps it.
/** @param {string} name @param {number} value @param {string} unit */
export function say(name, value, unit) {
  figures.push({ name, value: Number(value.toPrecision(4)), unit });
  console.log(`BENCH ${name} ${figures.at(-1).value} ${unit}`);
}

// write keeps all figures in a file of web/e2e/results, which git ignores; make
// figures takes bench.json from there.
/** @param {string} chromium its version @param {string} [name] of the file */
export function write(chromium, name = "bench.json") {
  const git = (...args) => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();
  const report = {
    date: new Date().toISOString(), commit: git("rev-parse", "--short", "HEAD") + (git("status", "--porcelain") ? " and changes" : ""),
    cores: os.cpus().length, model: os.cpus()[0].model.trim(), load: os.loadavg()[0], chromium, figures,
  };
  fs.writeFileSync(path.join(results, name), JSON.stringify(report).replaceAll('{"name"', '\n$&') + "\n"); // a line each
}
