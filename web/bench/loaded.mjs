// What a step takes on a machine whose cores are not all free: beside a process that keeps one
// core busy, and without it, with one thread, with two, and with as many as the run finds to
// help, which is what the page leaves to it. One line a figure, as of bench.mjs; in turns in one
// browser.
//
//	node web/bench/loaded.mjs [rounds, default 5]
import { spawn } from "node:child_process";
import { bound, launch, serve } from "../e2e/browser.mjs";
import { configs, trainer } from "./ours.mjs";
import { median, say, write } from "./report.mjs";

const rounds = Number(process.argv[2] ?? 5), kinds = /** @type {const} */ (["mlp", "cnn"]), threads = { threads1: 1, threads2: 2, auto: 0 };
const browser = await launch(), server = await serve();
try {
  const ours = await trainer(browser, server.url);
  if (ours.cores < 2) throw new Error("one core alone: there is nothing to compare");
  for (const loaded of [false, true]) {
    const busy = loaded ? bound(spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" })) : undefined;
    /** @type {Record<string, number[]>} */
    const step = {};
    for (let i = -1; i < rounds; i++) { // the first is to warm up
      for (const kind of kinds) {
        for (const [name, n] of Object.entries(threads)) {
          const r = await ours.run({ ...configs[kind], threads: n, backend: "simd", ...(i < 0 && { steps: 20 }) });
          if (i >= 0) (step[`${kind}.${name}`] ??= []).push(r.seconds / r.steps);
        }
      }
    }
    busy?.kill();
    for (const kind of kinds) {
      for (const name of Object.keys(threads)) say(`${kind}.${loaded ? "loaded" : "quiet"}.step.${name}`, 1000 * median(step[`${kind}.${name}`]), "ms");
      for (const name of ["threads2", "auto"]) say(`${kind}.${loaded ? "loaded" : "quiet"}.${name}_over_1`, median(step[`${kind}.${name}`].map((s, i) => s / step[`${kind}.threads1`][i])), "×");
    }
  }
  write(browser.version(), "bench-loaded.json");
} finally {
  await browser.close();
  server.close();
}
