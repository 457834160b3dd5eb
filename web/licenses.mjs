// Prints the licences of the site and of its third-party parts.
//
//	node licenses.mjs > licenses.txt
import { parts, root, terms, texts } from "./parts.mjs";

const rule = "=".repeat(78);
/** @type {[string, string][]} */
const sections = [["Clipscope", terms(root)]];
const inSite = (/** @type {{ files: string[] }} */ p) => p.files.some((f) => !f.startsWith("bin/"));
const here = parts.filter(inSite);
for (const p of here.filter((p) => p.terms)) sections.push([`${p.name} ${p.version ?? ""}`.trim(), p.terms]);

// Parts without a licence text of their own are listed by name; the texts follow, once each.
const bare = here.filter((p) => !p.terms);
const holder = (/** @type {string | undefined} */ purl) => parts.find((p) => p.purl === purl)?.name;
for (const p of bare) sections.push([`${p.name} ${p.version ?? ""}`.trim(), [
  `Within ${holder(p.within)}: ${p.files.join(", ")}`,
  `Licence: ${p.licence}${p.licence.startsWith("LicenseRef") ? "" : ", whose text is below or at https://spdx.org/licenses/"}`,
  ...(p.copyright ? [p.copyright] : []),
  p.licence === "MPL-2.0" ? `The Source Code Form is at ${p.source}, and ONNX Runtime's changes, if any, at https://github.com/microsoft/onnxruntime` : `Source: ${p.source}`,
].join("\n")]);
const notice = "As it is worded beside another part: the notice of each part above stands in the place of this one's.\n\n";
for (const [id, text] of Object.entries(texts)) {
  if (bare.some((p) => p.licence.split(" ").includes(id))) sections.push([`The text of ${id}`, `${notice}${text}`]);
}
sections.push(["Others in ONNX Runtime's own sources",
  "Who else wrote some of ONNX Runtime is said in its ThirdPartyNotices.txt:\nhttps://github.com/microsoft/onnxruntime/blob/v1.30.0/ThirdPartyNotices.txt"]);
process.stdout.write(sections.map(([name, text]) => `${rule}\n${name}\n${rule}\n\n${text}\n`).join("\n"));
