// Prints what the site's program is made of, with its terms.
//
//	node licenses.mjs > licenses.txt
import { packages, page, root, terms, toolchain } from "./parts.mjs";

const rule = "=".repeat(78);
/** @type {[string, string][]} */
const parts = [["Clipscope", terms(root)]];
for (const p of page) parts.push([`${p.name} ${p.version}`, p.terms]);
parts.push([toolchain.version, toolchain.terms]);
for (const p of packages) parts.push([`${p.name} ${p.version}`, p.terms]);
process.stdout.write(parts.map(([name, text]) => `${rule}\n${name}\n${rule}\n\n${text}\n`).join("\n"));
