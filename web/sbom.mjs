// Prints what a release is made of as CycloneDX 1.6 in JSON: without the time and the
// serial number that the format allows, so that the same sources have the same.
//
//	node sbom.mjs > sbom.json
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parts, root, spdx, terms } from "./parts.mjs";

/** @typedef {import("./parts.mjs").Part} Part */

const version = /const release = "([^"]+)"/.exec(readFileSync(join(root, "internal/site/generate.go"), "utf8"))?.[1];
if (!version) throw new Error("internal/site/generate.go names no release");

// licences returns an SPDX expression in CycloneDX's form, where a single id has its own field.
/** @param {string} expression */
function licences(expression) {
  if (expression.startsWith("LicenseRef-")) return [{ license: { name: expression.slice("LicenseRef-".length) } }];
  return expression.includes(" ") ? [{ expression }] : [{ license: { id: expression } }];
}

/** @param {Part} p */
const component = (p) => ({
  type: "library", "bom-ref": p.purl, name: p.name, ...(p.version ? { version: p.version } : {}), licenses: licences(p.licence),
  ...(p.copyright ? { copyright: p.copyright } : {}), purl: p.purl,
  ...(p.source ? { externalReferences: [{ type: "vcs", url: p.source }] } : {}),
  properties: [...p.files.map((value) => ({ name: "clipscope:linked-into", value })), ...(p.known ? [{ name: "clipscope:known-from", value: p.known }] : [])],
});

const self = `pkg:generic/clipscope@${version}`;
process.stdout.write(JSON.stringify({
  $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
  bomFormat: "CycloneDX", specVersion: "1.6", version: 1,
  metadata: { component: { type: "application", "bom-ref": self, name: "clipscope", version, purl: self, licenses: licences(spdx("clipscope", terms(root))) } },
  components: parts.map(component),
  dependencies: [
    { ref: self, dependsOn: parts.filter((p) => !p.within).map((p) => p.purl) },
    ...parts.map((p) => {
      const within = parts.filter((q) => q.within === p.purl).map((q) => q.purl);
      return { ref: p.purl, ...(within.length ? { dependsOn: within } : {}) };
    }),
  ],
}, undefined, 2) + "\n");
