// What the site's program is made of: its Go modules and Go itself, and what npm brings
// of which something is served. licenses.mjs and sbom.mjs say it, in their ways.
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const web = fileURLToPath(new URL(".", import.meta.url));
export const root = join(web, "..");
const go = process.env.GO ?? "go";
/** @param {Record<string, string>} target @param {string[]} args */
const ask = (target, ...args) => execFileSync(go, args, { cwd: root, encoding: "utf8", env: { ...process.env, ...target } });

// terms are the texts of a folder's licence files.
/** @param {string} dir */
export function terms(dir) {
  const files = readdirSync(dir).filter((f) => /^(licen[cs]e|copying|notice)/i.test(f)).sort();
  if (!files.length) throw new Error(`${dir} has no licence`);
  return files.map((f) => readFileSync(join(dir, f), "utf8").trim()).join("\n\n");
}

/** @typedef {{ name: string, version: string, terms: string }} Part */

// modules are those of Go that a package is linked with, for the page or for this machine.
/** @param {Record<string, string>} target @param {string} program @returns {Part[]} */
function modules(target, program) {
  const list = ask(target, "list", "-deps", "-f", "{{with .Module}}{{if .Version}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}", program);
  return [...new Set(list.split("\n").filter(Boolean))].sort().map((line) => {
    const [name, version, dir] = line.split(/[ \t]/);
    return { name, version, terms: terms(dir) };
  });
}

export const page = modules({ GOOS: "js", GOARCH: "wasm" }, "./app");
// What generates the site is linked with them as well, and with nothing else that is served.
export const generator = modules({}, ".");
/** @type {Part} */
export const toolchain = { name: "go", version: ask({}, "env", "GOVERSION").trim(), terms: terms(ask({}, "env", "GOROOT").trim()) };

// ONNX Runtime's packages for npm come without the text.
/** @type {Part[]} */
export const packages = ["uplot", "assemblyscript", "hyparquet", "hyparquet-compressors", "fzstd", "uqr", "onnxruntime-web"].map((name) => {
  const dir = join(web, "node_modules", name);
  return { name, version: JSON.parse(readFileSync(join(dir, "package.json"), "utf8")).version, terms: terms(name === "onnxruntime-web" ? join(web, "licenses/onnxruntime") : dir) };
});
