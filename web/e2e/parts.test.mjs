// What the site is made of: every file of it is ours or has a component of the SBOM, the SBOM
// has the form that CycloneDX asks for, and the terms of all are beside the site.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { bundle, bundles } from "../bundle.mjs";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../.."), dist = path.join(root, "dist");
const read = (/** @type {string} */ name) => fs.readFileSync(path.join(root, name), "utf8");

/** @type {any} */
let bom;
before(() => { bom = JSON.parse(execFileSync(process.execPath, ["web/sbom.mjs"], { cwd: root, encoding: "utf8" })); });

// shipped returns the files of the site, without compressed copies and without /stories, which
// no release has.
const shipped = () => fs.readdirSync(dist, { recursive: true, withFileTypes: true }).filter((f) => f.isFile())
  .map((f) => path.relative(dist, path.join(f.parentPath ?? f.path, f.name))).filter((f) => !/\.(br|gz)$/.test(f) && !f.startsWith("stories/")).sort();

// published returns what internal/site copies: sources and their places in the site.
const published = () => [...read("internal/site/files.go").matchAll(/^\t\{"([^"]+)", (runtime \+ )?"([^"]+)"\},$/gm)].map(([, from, runtime, to]) => ({ from, to: `web/${runtime ? "ort/" : ""}${to}` }));

// into returns the files that a component names.
const into = (/** @type {any} */ c) => c.properties.filter((/** @type {any} */ p) => p.name === "clipscope:linked-into").map((/** @type {any} */ p) => p.value);
const matches = (/** @type {string} */ pattern, /** @type {string} */ file) => (pattern.startsWith("*") ? file.endsWith(pattern.slice(1)) : file === pattern);
const components = (/** @type {string} */ file) => bom.components.filter((/** @type {any} */ c) => into(c).some((/** @type {string} */ p) => matches(p, file))).map((/** @type {any} */ c) => c.name).sort();

// ours reports whether a file is copied from this repository or written by internal/site.
function ours(/** @type {string} */ file) {
  if ([".nojekyll", "_headers", "web/early.js", "web/licenses.txt"].includes(file)) return true;
  return published().some(({ from, to }) => !from.includes("node_modules") && (file === to || file.startsWith(`${to}/`)));
}

const strangers = (/** @type {string[]} */ files) => files.filter((f) => !ours(f) && components(f).length === 0);

test("every file of the site is ours or has a component, and every component a file", () => {
  const files = shipped();
  assert.ok(files.length > 50 && published().length > 7, `${files.length} files, ${published().length} published`);
  assert.deepEqual(strangers(files), []);
  assert.deepEqual(strangers(["web/new.js", "web/ort/more.wasm", ...files]), ["web/new.js", "web/ort/more.wasm"]);
  for (const c of bom.components) {
    const where = into(c);
    assert.ok(where.length > 0, c.name);
    for (const p of where) assert.ok(p === "bin/clipscope" || files.some((f) => matches(p, f)), `${c.name} is said to be in ${p}`);
  }
  // What is copied from a package has that package for a component.
  for (const { from, to } of published()) {
    const [, name] = /node_modules\/([^/]+)\//.exec(from) ?? [];
    if (name) assert.ok(components(to).includes(name), `${to}, of ${name}`);
  }
  // What calls itself somebody's is not taken for ours.
  for (const f of files.filter((f) => ours(f) && /\.(m?js|css)$/.test(f))) assert.doesNotMatch(fs.readFileSync(path.join(dist, f), "utf8"), /@license|Copyright \(c\)|^\/\*!/im, f);
});

test("what bundlers and linkers have put into a file is among its components", async () => {
  // esbuild tells the files of a bundle.
  for (const name of Object.keys(bundles)) {
    if (name === "embed.js") continue; // this site may not be framed
    const packages = new Set((await bundle(name)).inputs.flatMap((f) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(f)?.[1] ?? []));
    assert.deepEqual(components(`web/${name}`), [...packages, "esbuild"].sort());
  }
  // ONNX Runtime's map names the sources of its script, and its library those of many functions.
  const sources = JSON.parse(read("web/node_modules/onnxruntime-web/dist/ort.wasm.bundle.min.mjs.map")).sources;
  const of = (/** @type {string} */ s) => (s.startsWith("../../common/") ? "onnxruntime-common" : s.startsWith("../lib/") ? "onnxruntime-web" : s === "ort-wasm-simd-threaded.mjs" ? "Emscripten, with dlmalloc" : s);
  assert.deepEqual(components("web/ort/ort.js"), [...new Set(sources.map(of))].sort());
  const library = fs.readFileSync(path.join(dist, "web/ort/ort.wasm"), "latin1"), inside = components("web/ort/ort.wasm");
  const names = { abseil_cpp: "Abseil", onnx: "ONNX", protobuf: "Protocol Buffers", re2: "RE2" };
  const fetched = new Set([...library.matchAll(/_deps\/(\w+)-src\//g)].map(([, name]) => name));
  assert.deepEqual([...fetched].sort(), Object.keys(names));
  for (const name of fetched) assert.ok(inside.includes(names[name]), name);
  for (const [mark, name] of /** @type {[RegExp, string][]} */ ([[/Eigen::/, "Eigen"], [/N8nlohmann16json_abi_v3_11_3/, "JSON for Modern C++"], [/N3gsl/, "Guidelines Support Library"], [/SafeIntExceptionHandler/, "SafeInt"], [/flatbuffers_utils/, "FlatBuffers"], [/__cxxabiv1/, "LLVM's libc++, libc++abi and compiler-rt"]])) {
    assert.match(library, mark);
    assert.ok(inside.includes(name), name);
  }
  // Every module that Go links into the program or takes a copy of.
  const linked = execFileSync(process.env.GO ?? "go", ["list", "-deps", "-f", "{{with .Module}}{{if .Version}}{{.Path}}{{end}}{{end}}{{if .Standard}}{{.ImportPath}}{{end}}", "./app"], { cwd: root, encoding: "utf8", env: { ...process.env, GOOS: "js", GOARCH: "wasm" } });
  const program = components("web/app.wasm");
  for (const line of linked.split("\n").filter((l) => l.includes("."))) assert.ok(program.includes(line.replace(/^vendor\/(golang\.org\/x\/\w+).*/, "$1")), line);
});

test("the SBOM has the form that CycloneDX 1.6 asks for", () => {
  const allowed = ["$schema", "bomFormat", "specVersion", "version", "metadata", "components", "dependencies"];
  assert.deepEqual(Object.keys(bom), allowed);
  assert.deepEqual([bom.bomFormat, bom.specVersion, bom.version, bom.serialNumber, bom.metadata.timestamp], ["CycloneDX", "1.6", 1, undefined, undefined]);
  const all = [bom.metadata.component, ...bom.components], refs = all.map((c) => c["bom-ref"]);
  assert.equal(new Set(refs).size, refs.length);
  const ids = ["0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSD-3-Clause-Open-MPI", "BSL-1.0", "ISC", "MIT", "MPL-2.0", "NCSA", "SunPro", "Zlib"];
  for (const c of all) {
    assert.match(c.type, /^(application|library)$/);
    for (const key of ["name", "purl", "bom-ref"]) assert.ok(typeof c[key] === "string" && c[key].length > 0, `${c.name}: ${key}`);
    assert.match(c.purl, /^pkg:(generic|golang|npm|github)\/([a-z0-9@._~-]+\/)*[a-zA-Z0-9@%._~-]+?(@[a-zA-Z0-9.+_-]+)?$/, c.purl);
    if (c.version) assert.ok(c.purl.endsWith(c.version.replace(/^go/, "")) || c.externalReferences?.length > 0 && c.purl.includes("@") || c === bom.metadata.component, `${c.purl} is not of ${c.version}`);
    else assert.match(c.properties.find((/** @type {any} */ p) => p.name === "clipscope:known-from")?.value ?? "", /./, `${c.name} has no version, and no word on that`);
    assert.equal(c.licenses.length, 1, c.name);
    const [l] = c.licenses;
    if (l.expression) for (const id of l.expression.split(/ AND | OR | WITH /)) assert.ok([...ids, "LLVM-exception"].includes(id), `${c.name}: ${id}`);
    else assert.ok(ids.includes(l.license.id) || l.license.name === "public-domain", `${c.name}: ${JSON.stringify(l)}`);
    for (const r of c.externalReferences ?? []) assert.ok(r.type === "vcs" && new URL(r.url).protocol === "https:", c.name);
  }
  assert.deepEqual(bom.dependencies.map((/** @type {any} */ d) => d.ref).sort(), [...refs].sort());
  const reached = new Set();
  const walk = (/** @type {string} */ ref) => {
    if (reached.has(ref)) return;
    reached.add(ref);
    for (const next of bom.dependencies.find((/** @type {any} */ d) => d.ref === ref).dependsOn ?? []) walk(next);
  };
  walk(bom.metadata.component["bom-ref"]);
  assert.equal(reached.size, refs.length, "what is depended on by nothing");
});

test("the SBOM has what is asked for by name, in the version that is pinned", () => {
  const purls = bom.components.map((/** @type {any} */ c) => c.purl);
  for (const [name, version] of Object.entries(JSON.parse(read("web/package.json")).dependencies)) assert.ok(purls.includes(`pkg:npm/${name}@${version}`), name);
  for (const [, name, version] of read("go.mod").matchAll(/^\s+(github\.com\/maxence\S+|gonum\S+) (v\S+)/gm)) assert.ok(purls.includes(`pkg:golang/${name}@${version}`), name);
  assert.ok(purls.some((/** @type {string} */ p) => p.startsWith("pkg:golang/std@1.")), purls.join(" "));
});

test("the terms of every component of the site go with it", () => {
  const text = fs.readFileSync(path.join(dist, "web/licenses.txt"), "utf8");
  const sections = new Map([...text.matchAll(/^=+\n(.+)\n=+\n\n([^]*?)(?=\n\n=+\n.+\n=+\n|$(?![^]))/gm)].map(([, name, body]) => [name, body]));
  for (const c of bom.components.filter((/** @type {any} */ c) => into(c).some((/** @type {string} */ f) => f !== "bin/clipscope"))) {
    const body = sections.get(`${c.name} ${c.version ?? ""}`.trim());
    assert.ok(body, `${c.name} is not in licenses.txt`);
    if (!body.includes("\nLicence: ")) {
      assert.match(body, /permission/i, `${c.name} has no terms`);
      continue;
    }
    // A package without the text names the licence, its holders and the sources.
    const id = c.licenses[0].license?.id ?? c.licenses[0].expression ?? "public-domain";
    for (const word of [id, c.copyright, c.externalReferences[0].url]) assert.ok(body.includes(word), `${c.name}: ${word}`);
    const [text] = id.split(" WITH ");
    if (!["public-domain", "BSD-3-Clause-Open-MPI"].includes(text)) assert.ok(sections.has(`The text of ${text}`), `${c.name}: there is no text of ${text}`);
  }
  assert.match(sections.get("The text of MPL-2.0"), /Source Code Form/);
  assert.match([...sections].find(([name]) => name.startsWith("Eigen "))[1], /Source Code Form is at https:\/\/github\.com\/eigen-mirror/);
});
