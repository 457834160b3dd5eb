// Prints what the site's program is made of, with its terms: its Go modules and Go
// itself, and what npm brings that is served.
//
//	node licenses.mjs > licenses.txt
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const web = fileURLToPath(new URL(".", import.meta.url));
const root = join(web, "..");
const go = process.env.GO ?? "go";
/** @param {string[]} args */
const ask = (...args) => execFileSync(go, args, { cwd: root, encoding: "utf8", env: { ...process.env, GOOS: "js", GOARCH: "wasm" } });

// terms are the texts of a folder's licence files.
/** @param {string} dir */
function terms(dir) {
  const files = readdirSync(dir).filter((f) => /^(licen[cs]e|copying|notice)/i.test(f)).sort();
  if (!files.length) throw new Error(`${dir} has no licence`);
  return files.map((f) => readFileSync(join(dir, f), "utf8").trim()).join("\n\n");
}

/** @type {[string, string][]} */
const parts = [["Clipscope", terms(root)]];
const modules = ask("list", "-deps", "-f", "{{with .Module}}{{if .Version}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}", "./app");
for (const line of [...new Set(modules.split("\n").filter(Boolean))].sort()) {
  const [name, dir] = line.split("\t");
  parts.push([name, terms(dir)]);
}
parts.push([ask("env", "GOVERSION").trim(), terms(ask("env", "GOROOT").trim())]);
for (const name of ["uplot", "assemblyscript", "hyparquet", "hyparquet-compressors", "fzstd", "uqr"]) {
  const dir = join(web, "node_modules", name);
  parts.push([`${name} ${JSON.parse(readFileSync(join(dir, "package.json"), "utf8")).version}`, terms(dir)]);
}
// Its packages for npm come without the text.
parts.push([`onnxruntime-web ${JSON.parse(readFileSync(join(web, "node_modules/onnxruntime-web/package.json"), "utf8")).version}`, terms(join(web, "licenses/onnxruntime"))]);
const rule = "=".repeat(78);
process.stdout.write(parts.map(([name, text]) => `${rule}\n${name}\n${rule}\n\n${text}\n`).join("\n"));
