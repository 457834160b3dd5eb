// Packs what a site's visitors fetch: beside every file that it makes smaller it
// writes x.br and x.gz, for hosts that send these as they are. What was packed
// before, by content, comes from a folder of such.
//
//	node compress.mjs SITE KEPT QUALITY [RARE]     qualities of brotli: 0 … 11
//
// RARE is for what few visits fetch, which is half of all that packs slowly.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { promisify } from "node:util";
import zlib from "node:zlib";

const [site, folder, quality, rare = quality] = process.argv.slice(2);
const kept = join(folder, rare === quality ? quality : `${quality}-${rare}`);
mkdirSync(kept, { recursive: true });
const RARE = join(site, "web/ort");

const { BROTLI_PARAM_LGWIN, BROTLI_PARAM_NDIRECT, BROTLI_PARAM_NPOSTFIX, BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = zlib.constants;
const WINDOW = 24; // the largest that browsers must know: 16 MB
// Three codes for distances. Of a program that is longer than the window any may be half a per cent
// shorter than the others, which changes from build to build, and all are shorter than brotli's own.
const DISTANCES = [[1, 8], [2, 12], [3, 24]].map(([postfix, direct]) => ({ [BROTLI_PARAM_NPOSTFIX]: postfix, [BROTLI_PARAM_NDIRECT]: direct }));

/** @param {Buffer} b @param {string} quality */
async function brotli(b, quality) {
  const params = { [BROTLI_PARAM_QUALITY]: Number(quality), [BROTLI_PARAM_LGWIN]: WINDOW, [BROTLI_PARAM_SIZE_HINT]: b.length };
  const ways = b.length > 1 << WINDOW ? DISTANCES : [{}];
  const all = await Promise.all(ways.map((more) => promisify(zlib.brotliCompress)(b, { params: { ...params, ...more } })));
  return all.reduce((least, other) => (other.length < least.length ? other : least));
}

/** @type {Record<string, (b: Buffer, quality: string) => Promise<Buffer>>} */
const packings = {
  ".br": brotli,
  ".gz": (b) => promisify(zlib.gzip)(b, { level: 9 }),
};
const used = new Set();

/** @param {string} file @param {string} suffix */
async function pack(file, suffix) {
  const plain = readFileSync(file);
  const name = createHash("sha256").update(plain).digest("hex") + suffix, at = join(kept, name);
  used.add(name);
  if (!existsSync(at)) writeFileSync(at, await packings[suffix](plain, file.startsWith(RARE) ? rare : quality));
  const packed = readFileSync(at);
  if (packed.length < plain.length) writeFileSync(file + suffix, packed);
}

// What hosts read themselves begins with a dot or a line; pictures are packed already.
const files = readdirSync(site, { recursive: true, withFileTypes: true })
  .filter((f) => f.isFile() && !/^[._]/.test(f.name) && ![".png", ...Object.keys(packings)].includes(extname(f.name)))
  .map((f) => join(f.parentPath ?? f.path, f.name));
await Promise.all(files.flatMap((file) => Object.keys(packings).map((suffix) => pack(file, suffix))));
for (const name of readdirSync(kept)) if (!used.has(basename(name))) rmSync(join(kept, name));
