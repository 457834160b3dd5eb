// Prints what a release is made of as CycloneDX 1.6 in JSON: without the time and the
// serial number that the format allows, so that the same sources have the same.
//
//	node sbom.mjs > sbom.json
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { generator, packages, page, root, terms, toolchain } from "./parts.mjs";

/** @typedef {import("./parts.mjs").Part} Part */

const version = /const release = "([^"]+)"/.exec(readFileSync(join(root, "internal/site/generate.go"), "utf8"))?.[1];
if (!version) throw new Error("internal/site/generate.go names no release");

// spdx are the licences that a text is, as SPDX names them.
/** @param {Part} part */
function spdx({ name, terms }) {
  const text = terms.replace(/\s+/g, " ");
  const found = [
    /Apache License,? Version 2\.0/i.test(text) && "Apache-2.0",
    /Permission is hereby granted, free of charge/.test(text) && "MIT",
    /Redistribution and use in source and binary forms/.test(text) && "BSD-3-Clause",
  ].filter(Boolean);
  if (!found.length || found.includes("BSD-3-Clause") && !/Neither the name/.test(text)) throw new Error(`${name} has a licence that is not known here: add it to spdx`);
  return found.map((id) => ({ license: { id } }));
}

// used says what a part is for: the page, what generates it, or both.
/** @param {Part} part @param {string} purl @param {string[]} used */
const component = (part, purl, used) => ({
  type: "library", "bom-ref": purl, name: part.name, version: part.version, licenses: spdx(part), purl,
  properties: used.map((value) => ({ name: "clipscope:linked-into", value })),
});

const both = new Map([...page, ...generator].map((p) => [`${p.name}@${p.version}`, p]));
/** @param {Part[]} list @param {string} key */
const has = (list, key) => list.some((p) => `${p.name}@${p.version}` === key);
const components = [
  ...[...both].map(([key, p]) => component(p, `pkg:golang/${key}`, [has(page, key) ? "app.wasm" : "", has(generator, key) ? "bin/clipscope" : ""].filter(Boolean))),
  component({ ...toolchain, name: "Go standard library" }, `pkg:golang/std@${toolchain.version.replace(/^go/, "")}`, ["app.wasm", "bin/clipscope"]),
  ...packages.map((p) => component(p, `pkg:npm/${p.name}@${p.version}`, ["the site"])),
].sort((a, b) => a.purl < b.purl ? -1 : 1);

const self = `pkg:generic/clipscope@${version}`;
process.stdout.write(JSON.stringify({
  $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
  bomFormat: "CycloneDX", specVersion: "1.6", version: 1,
  metadata: { component: { type: "application", "bom-ref": self, name: "clipscope", version, purl: self, licenses: spdx({ name: "clipscope", version, terms: terms(root) }) } },
  components,
  dependencies: [{ ref: self, dependsOn: components.map((c) => c.purl) }, ...components.map((c) => ({ ref: c.purl }))],
}, undefined, 2) + "\n");
