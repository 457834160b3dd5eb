// The programs of docs/, run as they stand: those for the page in the page, and those for
// a model that was taken away beside it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { file, root, stage, until, unzip } from "./browser.mjs";
import { numpy, PYTHON, withoutNumpy } from "./python.mjs";
import { kind, reader, unkind } from "./onnx.mjs";
import { checkpoint, files, mails, vocabulary } from "./transformers.mjs";

const { visit } = await stage();

// programs are the pieces of code of a guide in a language, each with its place.
/** @param {string} guide @param {string} language */
function programs(guide, language) {
  const name = `docs/${guide}.md`, text = fs.readFileSync(path.join(root, name), "utf8");
  return [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].filter((m) => m[1] === language)
    .map((m) => ({ at: `${name}:${text.slice(0, m.index).split("\n").length}`, text: m[2] }));
}

// What the text calls file, where it says that it is a table of people, and of reviews.
const people = "age,colour,bought\n" + Array.from({ length: 600 }, (_, i) => `${18 + i % 60},${i % 3 ? "red" : "blue"},${i % 60 > 30 ? "yes" : "no"}`).join("\n");
const reviews = "review,says\n" + Array.from({ length: 400 }, (_, i) => `The film was ${(i % 2 ? kind : unkind)[i % 3]},${i % 2 ? "good" : "bad"}`).join("\n");

// strict has whoever reads a field that is not there hear of it, wherever in what the page
// answers: else a misspelt name would be undefined, and nothing would fail.
const strict = () => {
  const proxies = new WeakMap();
  const plain = (/** @type {any} */ v) => {
    if (typeof v === "function") return (...args) => plain(v(...args.map(checked)));
    if (v === null || typeof v !== "object" || proxies.has(v)) return proxies.get(v) ?? v;
    if (Array.isArray(v)) return v.map(plain);
    return Object.getPrototypeOf(v) === Object.prototype ? Object.fromEntries(Object.entries(v).map(([name, of]) => [name, plain(of)])) : v;
  };
  const checked = (/** @type {any} */ v) => {
    if (v === null || typeof v !== "object" && typeof v !== "function") return v;
    if (v instanceof Promise) return v.then(checked);
    const proxy = new Proxy({}, { // of an empty object, as what is frozen may not be another
      get(_, name) {
        if (typeof name === "string" && !["then", "return"].includes(name) && !(name in v)) throw new Error(`there is no ${name}, but ${Object.keys(v)}`);
        const got = v[name];
        return typeof got === "function" ? (...args) => checked(got.apply(v, args.map(plain))) : checked(got);
      },
      ownKeys: () => Reflect.ownKeys(v),
      getOwnPropertyDescriptor: (_, name) => ({ ...Reflect.getOwnPropertyDescriptor(v, name), configurable: true }),
    });
    proxies.set(proxy, v);
    return proxy;
  };
  return { plain, checked };
};

// run runs a program in the page, which may import and await as in its console, with names that it is given.
/** @param {any} page @param {{ at: string, text: string }} program @param {Record<string, unknown>} given */
async function run(page, { at, text }, given) {
  const said = [];
  const hear = (/** @type {any} */ m) => { if (m.type() === "log") said.push(m.text()); };
  page.on("console", hear);
  const body = text.replace(/^import (\{.*\}) from "\.\/(.*)";$/gm, `const $1 = checked(await import("${new URL("web/", page.url())}$2"));`);
  try {
    // The policy lets no text be run, so the browser's tools do it.
    await page.evaluate(`(async (api, given) => {
      const { plain, checked } = (${strict})(), console = { log: (...args) => window.console.log(...args.map(plain)) };
      return (async (clipscope, { ${Object.keys(given).join(", ")} }) => {\n${body}\n})(checked(api), given);
    })(window.clipscope, Object.fromEntries(${JSON.stringify(Object.entries(given))}.map(([name, v]) => [name, v.base64 === undefined ? v : window.unpack(v)])))`);
  } catch (e) {
    throw new Error(`${at}: ${e.message}`, { cause: e });
  } finally {
    page.off("console", hear);
  }
  assert.deepEqual(page.errors.splice(0), [], at);
  const silent = !said.length || said.some((s) => s.includes("undefined"));
  assert.ok(!silent, `${at} says ${JSON.stringify(said)}`);
  return said;
}

test("every program of the guides runs as it stands", async (t) => {
  const page = await visit(t, "");
  await page.evaluate(() => {
    /** @type {any} */ (window).unpack = ({ name, base64 }) => new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], name);
  });
  const zip = Buffer.from(await page.evaluate(async (people) => {
    const result = await (await clipscope.train({ target_epsilon: 8 }, { train: [new File([people], "rows.csv")] })).done;
    const bytes = new Uint8Array(await (await clipscope.convert(result, "zip")).arrayBuffer());
    return btoa(bytes.reduce((s, b) => s + String.fromCharCode(b), ""));
  }, people), "base64");
  const model = unzip(zip), text = model["model.json"].toString();
  const given = { file: file("rows.csv", people), saved: file("model.zip", zip), text };
  // One that was interrupted, for the program that goes on with it.
  await page.evaluate(async () => {
    const run = await clipscope.train({ data: "moons", target_epsilon: 1, steps: 300 }, undefined, { paused: true });
    run.done.catch(() => {});
    run.store();
    await run.memory(); // the worker has heard that
    for (let i = 0; i < 2; i++) { // it is stored after a step, and before the next
      const step = new Promise((resolve) => { const off = run.on(() => { off(); resolve(undefined); }); });
      run.step();
      await step;
    }
    run.leave();
  });
  await until(page, async () => (await clipscope.interrupted()).length === 1);
  const all = [...programs("getting-started", "js"), ...programs("scripting", "js"), ...programs("applying", "js")];
  assert.ok(all.length > 8, `${all.length} programs`);
  const [config, tensors, vocab] = await Promise.all([...files(checkpoint), vocabulary()].map(async (f) => file(f.name, Buffer.from(await f.arrayBuffer()))));
  const transformer = { mails: file("mails.csv", mails(300)), config, tensors, vocab };
  for (const program of all) {
    const begun = performance.now();
    const own = program.text.includes("reader") ? { file: file("reviews.csv", reviews), reader: file("reader.onnx", reader(["n"])) } : program.text.includes("tensors") ? transformer : given;
    // What a program declares itself it is not given.
    const free = Object.fromEntries(Object.entries(own).filter(([name]) => !new RegExp(`const ${name}\\b`).test(program.text)));
    const said = await run(page, program, free);
    t.diagnostic(`${program.at}: ${Math.round(performance.now() - begun)} ms, ${said.at(-1)?.slice(0, 100)}`);
  }
  assert.deepEqual(await page.evaluate(() => clipscope.interrupted()), []);

  // A program that reads what is not there does not run.
  for (const wrong of ["console.log((await clipscope.methods())[0].misspelt)", "const { misspelt } = await clipscope.plan({}); console.log(1)", "console.log(clipscope.misspelt)",
    "const run = await clipscope.train({ data: 'moons', steps: 1 }); run.on((e) => e.misspelt.epsilon); console.log((await run.done).epsilon)"]) {
    await assert.rejects(run(page, { at: "here", text: wrong }, {}), /there is no misspelt/, wrong);
  }
  await assert.rejects(run(page, { at: "here", text: "await clipscope.train({ misspelt: 1 })" }, {}), /misspelt/);

  const dir = fs.mkdtempSync(path.join(os.tmpdir(), "clipscope-docs-"));
  t.after(() => fs.rmSync(dir, { recursive: true }));
  for (const [name, content] of Object.entries({ ...model, "rows.csv": people })) fs.writeFileSync(path.join(dir, name), content);
  if (!numpy) return t.diagnostic(withoutNumpy);
  const beside = (program, ...args) => execFileSync(program, args, { cwd: dir, encoding: "utf8" });
  for (const { at, text } of programs("applying", "python")) assert.match(beside(PYTHON, "-B", "-c", text), /(yes|no)/, at);
  for (const { at, text } of programs("applying", "sh")) {
    beside("bash", "-ec", text.replaceAll("python3 ", PYTHON + " "));
    assert.equal(fs.readFileSync(path.join(dir, "answers.csv"), "utf8").trim().split("\n").length, 601, at);
  }
});
