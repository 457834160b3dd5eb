// Bundles the scripts of the site, each with all that it imports in one file: a browser asks
// for one, and finds no modules by their names.
//
//	node bundle.mjs [output directory, default ../bin/web]
import { build } from "esbuild";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const web = fileURLToPath(new URL(".", import.meta.url));

// bundles lists the scripts by the names of their files. A page and a worker start from the
// classic ones; the others are modules, which are imported when they are asked for.
/** @type {Record<string, { from: string, format: "iife" | "esm" }>} */
export const bundles = {
  "page.js": { from: "page.js", format: "iife" },
  "embed.js": { from: "embed.js", format: "iife" }, // of sites that other pages may show
  "trainer-worker.js": { from: "trainer-worker.js", format: "iife" },
  "save.js": { from: "save.mjs", format: "esm" },
  "parquet.js": { from: "parquet.mjs", format: "esm" },
  "qr.js": { from: "qr.mjs", format: "esm" },
  "tokenizer.js": { from: "tokenizer.mjs", format: "esm" },
  "checkpoint.js": { from: "checkpoint.mjs", format: "esm" },
};

// bundle returns the text of a bundle and the files that went into it, by their paths from this
// folder. A test may change the text of sources by their names.
/** @param {string} name @param {Record<string, (text: string) => string>} [changes] */
export async function bundle(name, changes = {}) {
  const { from, format } = bundles[name];
  const changing = {
    name: "changing",
    /** @param {import("esbuild").PluginBuild} build */
    setup(build) {
      build.onLoad({ filter: /\.m?js$/ }, ({ path }) => {
        const change = changes[basename(path)];
        return change && { contents: change(readFileSync(path, "utf8")) };
      });
    },
  };
  const { outputFiles, metafile } = await build({
    absWorkingDir: web, entryPoints: [from], bundle: true, minify: true, format, charset: "utf8", logLevel: "warning",
    write: false, metafile: true, plugins: [changing],
  });
  return { text: outputFiles[0].text, inputs: Object.keys(metafile.inputs) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const out = process.argv[2] ?? join(web, "../bin/web");
  for (const name of Object.keys(bundles)) writeFileSync(join(out, name), (await bundle(name)).text);
}
