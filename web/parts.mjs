// The third-party parts of the site, file by file: Go and its modules, npm packages, and the
// libraries that those were built of. licenses.mjs and sbom.mjs write them down, and
// e2e/parts.test.mjs compares them with the files of the site.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundles } from "./bundle.mjs";
import { builds } from "./onnxruntime.mjs";

const web = fileURLToPath(new URL(".", import.meta.url));
export const root = join(web, "..");
const go = process.env.GO ?? "go";
/** @param {Record<string, string>} target @param {string[]} args */
const ask = (target, ...args) => execFileSync(go, args, { cwd: root, encoding: "utf8", env: { ...process.env, ...target } });

// terms returns the texts of a folder's licence files.
/** @param {string} dir */
export function terms(dir) {
  const files = readdirSync(dir).filter((f) => /^(licen[cs]e|copying|notice|patents|third.?party.?notices)/i.test(f)).sort();
  if (!files.length) throw new Error(`${dir} has no licence`);
  return files.map((f) => readFileSync(join(dir, f), "utf8").trim()).join("\n\n");
}

// spdx returns the SPDX expression for a licence text.
/** @param {string} name @param {string} terms */
export function spdx(name, terms) {
  const text = terms.replace(/\s+/g, " ");
  const found = [
    /Apache License,? Version 2\.0/i.test(text) && "Apache-2.0",
    /Permission is hereby granted, free of charge/.test(text) && "MIT",
    /Redistribution and use in source and binary forms/.test(text) && "BSD-3-Clause",
  ].filter(Boolean);
  if (!found.length || found.includes("BSD-3-Clause") && !/Neither the name/.test(text)) throw new Error(`${name} has a licence that is not known here: add it to spdx`);
  return found.join(" AND ");
}

/**
 * Part is a third-party library of which the site has some.
 * @typedef {object} Part
 * @property {string} name
 * @property {string} [version] none where the file does not tell
 * @property {string} licence an expression of SPDX
 * @property {string} [terms] the text of it; without, the notice and where the text is
 * @property {string} [copyright] notice, where there are no terms
 * @property {string} [source] the address of the sources
 * @property {string} purl
 * @property {string[]} files of the site, from its root, and bin/clipscope, that have some of it
 * @property {string} [within] the purl of the part that brought it
 * @property {string} [known] how name and version were found, where no manifest names them
 */

const PROGRAM = "web/app.wasm", GENERATOR = "bin/clipscope";
// Files that the package go-app writes. wasm_exec.js, which it copies, is Go's.
const SHELL = ["*.html", "app.css", "app.js", "app-worker.js", "manifest.webmanifest"];

// modules returns the Go modules that a program is linked with, and the packages of each.
/** @param {Record<string, string>} target @param {string} program */
function modules(target, program) {
  /** @type {Map<string, { name: string, version: string, dir: string, packages: string[] }>} */
  const all = new Map();
  for (const line of ask(target, "list", "-deps", "-f", "{{with .Module}}{{if .Version}}{{$.ImportPath}}\t{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}", program).split("\n").filter(Boolean)) {
    const [path, name, version, dir] = line.split("\t"), key = `${name}@${version}`;
    if (!all.has(key)) all.set(key, { name, version, dir, packages: [] });
    all.get(key).packages.push(path);
  }
  return all;
}

const page = modules({ GOOS: "js", GOARCH: "wasm" }, "./app"), generator = modules({}, ".");
const goroot = ask({}, "env", "GOROOT").trim(), version = ask({}, "env", "GOVERSION").trim();

/** @returns {Part[]} */
function ofGo() {
  /** @type {Part[]} */
  const parts = [];
  for (const [key, m] of new Map([...page, ...generator])) {
    const text = terms(m.dir), purl = `pkg:golang/${key}`;
    const files = [page.has(key) ? PROGRAM : "", generator.has(key) ? GENERATOR : "", m.name.includes("/go-app/") ? SHELL : []].flat().filter(Boolean);
    parts.push({ name: m.name, version: m.version, licence: spdx(m.name, text), terms: text, purl, files });
    if (m.name === "gonum.org/v1/gonum") parts.push(...ofGonum(m, purl));
  }
  const text = terms(goroot), std = `pkg:golang/std@${version.replace(/^go/, "")}`;
  parts.push({ name: "Go standard library", version, licence: spdx("go", text), terms: text, purl: std, files: [PROGRAM, GENERATOR, "wasm_exec.js"] });
  // Modules that the standard library vendors, which it lists with their versions.
  const copied = readFileSync(join(goroot, "src/vendor/modules.txt"), "utf8").matchAll(/^# (\S+) (\S+)$/gm);
  const linked = (/** @type {Record<string, string>} */ target, /** @type {string} */ program) => ask(target, "list", "-deps", "-f", "{{if .Standard}}{{.ImportPath}}{{end}}", program).split("\n");
  const inPage = linked({ GOOS: "js", GOARCH: "wasm" }, "./app"), inGenerator = linked({}, ".");
  for (const [, name, version] of copied) {
    const of = (/** @type {string[]} */ list) => list.some((p) => p.startsWith(`vendor/${name}/`));
    const files = [of(inPage) ? PROGRAM : "", of(inGenerator) ? GENERATOR : ""].filter(Boolean), text = terms(join(goroot, "src/vendor", name));
    if (files.length) parts.push({ name, version, licence: spdx(name, text), terms: text, purl: `pkg:golang/${name}@${version}`, files, within: std });
  }
  return parts;
}

// ofGonum returns the libraries from which the linked packages of gonum were translated, as
// their sources say.
/** @param {{ dir: string, packages: string[] }} m @param {string} within @returns {Part[]} */
function ofGonum({ dir, packages }, within) {
  const their = (/** @type {string} */ name) => readFileSync(join(dir, "THIRD_PARTY_LICENSES", name), "utf8").trim();
  const known = "the comments of gonum's package", netlib = "https://www.netlib.org/";
  const all = [
    { of: "/internal/cephes", name: "Cephes Mathematical Library", version: "2.8", licence: "BSD-3-Clause", terms: their("Cephes-LICENSE"),
      source: netlib + "cephes/", purl: "pkg:generic/cephes@2.8" },
    { of: "/internal/math32", name: "FreeBSD msun, by Sun Microsystems", licence: "SunPro", terms: their("Sun-LICENSE"), source: netlib + "fdlibm/", purl: "pkg:generic/msun" },
    { of: "/internal/fftpack", name: "FFTPACK", licence: "LicenseRef-public-domain",
      copyright: "By Paul N. Swarztrauber, who placed it in the public domain.", source: netlib + "fftpack/", purl: "pkg:generic/fftpack" },
    { of: "/internal/amos", name: "AMOS", licence: "LicenseRef-public-domain",
      copyright: "By Donald E. Amos, Sandia National Laboratories; part of SLATEC, which is in the public domain.", source: netlib + "amos/",
      purl: "pkg:generic/amos" },
    { of: "/lapack/gonum", name: "Reference LAPACK and BLAS", licence: "BSD-3-Clause-Open-MPI",
      copyright: "Copyright (c) 1992-2013 The University of Tennessee and The University of Tennessee Research Foundation; " +
        "2000-2013 The University of California Berkeley; 2006-2013 The University of Colorado Denver.",
      source: netlib + "lapack/", purl: "pkg:generic/lapack" },
  ];
  return all.filter((p) => packages.some((path) => path.endsWith(p.of))).map(({ of: _, ...p }) => ({ ...p, known, files: [PROGRAM], within }));
}

// served lists the npm packages in the site, with the files that have some of each.
/** @type {[string, string[]][]} */
const served = [
  ["uplot", ["web/page.js", "web/uplot.css"]],
  ["assemblyscript", ["", "-threads", "-relaxed", "-relaxed-threads"].map((build) => `web/kernels${build}.wasm`)],
  ["hyparquet", ["web/parquet.js"]],
  ["hyparquet-compressors", ["web/parquet.js"]],
  ["fzstd", ["web/parquet.js"]],
  ["uqr", ["web/qr.js"]],
  ["@huggingface/tokenizers", ["web/tokenizer.js"]],
  ["esbuild", Object.keys(bundles).filter((name) => name !== "embed.js").map((name) => `web/${name}`)], // a few lines that join modules
  ["onnxruntime-web", ["web/ort/ort.js", "web/ort/ort.wasm"]],
  ["onnxruntime-common", ["web/ort/ort.js"]],
];

/** @returns {Part[]} */
function ofNpm() {
  const parts = served.map(([name, files]) => {
    // ONNX Runtime's packages come without the text.
    const dir = join(web, "node_modules", name), text = terms(name.startsWith("onnxruntime-") && !bears(dir) ? join(web, "licenses/onnxruntime") : dir);
    const { version } = JSON.parse(readFileSync(join(dir, "package.json"), "utf8"));
    return { name, version, licence: spdx(name, text), terms: text, purl: `pkg:npm/${name}@${version}`, files };
  });
  const runtime = parts.find((p) => p.name === "onnxruntime-web");
  return [...parts, ...builds(runtime.version).map((p) => ({ ...p, within: runtime.purl }))];
}

// bears reports whether a package has a licence or notices.
/** @param {string} dir */
const bears = (dir) => readdirSync(dir).some((f) => /^(licen[cs]e|third.?party.?notices)/i.test(f));

// parts lists every part, sorted by purl.
/** @type {Part[]} */
export const parts = [...ofGo(), ...ofNpm()].sort((a, b) => (a.purl < b.purl ? -1 : 1));

// texts holds licence texts by SPDX identifier, for parts whose packages come without one.
// They are read from other packages that are installed for the build.
/** @type {Record<string, string>} */
export const texts = Object.fromEntries([
  ["MPL-2.0", join(web, "node_modules/axe-core/LICENSE")],
  ["Apache-2.0", join(web, "node_modules/assemblyscript/LICENSE")],
  ["BSL-1.0", boost()],
  ["BSD-3-Clause", join(goroot, "LICENSE")],
  ["MIT", join(web, "licenses/onnxruntime/LICENSE")],
].map(([id, file]) => {
  if (!existsSync(file)) throw new Error(`${file}: there is no text of ${id}`);
  return [id, readFileSync(file, "utf8").trim()];
}));

function boost() {
  const gonum = [...page.values()].find((m) => m.name === "gonum.org/v1/gonum");
  return join(gonum.dir, "THIRD_PARTY_LICENSES/Boost-LICENSE");
}
