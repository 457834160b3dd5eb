// Prints what the page's program is built of in the place of other files, for go build -overlay:
// small packages for some of Go's, one without tables that no pattern needs, one way to sort instead of one for each type,
// short ways to change lists, and shaders without their comments, which it writes to a folder.
//
//	node overlay.mjs FOLDER > overlay.json
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const folder = resolve(process.argv[2]);
/** @param {string[]} args */
const list = (...args) => execFileSync(process.env.GO || "go", ["list", ...args], { cwd: root, encoding: "utf8", env: { ...process.env, GOOS: "js", GOARCH: "wasm" } })
  .trim().split("\n").map((line) => line.split("\t"));

/** @type {Record<string, string>} */
const Replace = {};

/** @type {Record<string, string>} package of Go's → the file that is there instead */
const small = {
  "net/http": "app/nothttp/http.go", "internal/godebug": "app/notgodebug/godebug.go", "crypto/internal/fips140/ecdh": "app/notnist/ecdh.go",
  "crypto/sha1": "app/nosha1/sha1.go", "crypto/md5": "app/nomd5/md5.go",
};
for (const [name, dir, ...files] of list("-f", '{{.ImportPath}}\t{{.Dir}}{{range .GoFiles}}\t{{.}}{{end}}', ...Object.keys(small))) {
  for (const file of files) Replace[join(dir, file)] = "";
  Replace[join(dir, "small.go")] = join(root, small[name]);
}

// Patterns of the program's own know letters, and no other class of Unicode: a visitor need not fetch the tables
// of all scripts. A pattern that takes another does not compile, and the program ends where it starts.
const known = { "unicode.CategoryAliases": "noAliases", "unicode.Categories": "letters", "unicode.Scripts": "noTables", "unicode.FoldScript": "noTables", "unicode.Cn": "nil" };
const [[syntax], [slices], [sort]] = ["regexp/syntax", "slices", "sort"].map((name) => list("-f", "{{.Dir}}", name)[0]);
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "parse.txt"), readFileSync(join(syntax, "parse.go"), "utf8").replace(/\bunicode\.(CategoryAliases|Categories|Scripts|FoldScript|Cn)\b/g, (name) => known[/** @type {keyof typeof known} */ (name)]) + `
var (
	letters   = map[string]*unicode.RangeTable{"L": unicode.L}
	noTables  map[string]*unicode.RangeTable
	noAliases map[string]string
)
`);
Replace[join(syntax, "parse.go")] = join(folder, "parse.txt");

// Go generates its sorts by a function twice from one template: in package slices for every type, and in package sort over less and swap.
// The second replaces the first, so that some twenty types share one; the order stays the same (overlay_test.go).
writeFileSync(join(folder, "sort.txt"), readFileSync(join(sort, "zsortfunc.go"), "utf8").replace(/^package sort$/m, "package slices") + `
type lessSwap struct {
	Less func(i, j int) bool
	Swap func(i, j int)
}

func over[E any](data []E, cmp func(a, b E) int) lessSwap {
	return lessSwap{func(i, j int) bool { return cmp(data[i], data[j]) < 0 }, func(i, j int) { data[i], data[j] = data[j], data[i] }}
}

func pdqsortCmpFunc[E any](data []E, a, b, limit int, cmp func(a, b E) int) { pdqsort_func(over(data, cmp), a, b, limit) }

func stableCmpFunc[E any](data []E, n int, cmp func(a, b E) int) { stable_func(over(data, cmp), n) }
`);
Replace[join(slices, "zsortanyfunc.go")] = join(folder, "sort.txt");

// Of sorts by < those of hashes of words and of norms have one for their type, as they run for each row; all others share that one, too.
const [, ordered] = readFileSync(join(slices, "zsortordered.go"), "utf8").split('import "cmp"\n');
const OFTEN = ["uint32", "float64"];
writeFileSync(join(folder, "ordered.txt"), `package slices

import "cmp"
${OFTEN.map((type) => ordered.replaceAll("Ordered[E cmp.Ordered]", `_${type}`).replaceAll("Ordered(", `_${type}(`).replaceAll("[]E", `[]${type}`)).join("")}
func pdqsortOrdered[E cmp.Ordered](data []E, a, b, limit int) {
	switch v := any(data).(type) {
${OFTEN.map((type) => `	case []${type}:\n		pdqsort_${type}(v, a, b, limit)\n`).join("")}	default:
		pdqsort_func(over(data, cmp.Compare[E]), a, b, limit)
	}
}
`);
Replace[join(slices, "zsortordered.go")] = join(folder, "ordered.txt");

// What puts into lists and takes out of them is there for each type, too: shorter, for lists that are changed now and then.
/** @type {Record<string, string>} function → its body */
const bodies = {
  Insert: `
	if i == len(s) || len(v) == 0 {
		return append(s, v...)
	}
	return append(append(s[:i:i], v...), s[i:]...)`,
  DeleteFunc: `
	i := 0
	for _, v := range s {
		if !del(v) {
			s[i] = v
			i++
		}
	}
	clear(s[i:])
	return s[:i]`,
};
let lists = readFileSync(join(slices, "slices.go"), "utf8");
for (const [name, body] of Object.entries(bodies)) lists = lists.replace(new RegExp(`(?<=^func ${name}\\[.*\\{)[^]*?(?=^\\})`, "m"), () => `${body}\n`);
writeFileSync(join(folder, "slices.txt"), lists);
Replace[join(slices, "slices.go")] = join(folder, "slices.txt");

// WGSL has no texts in which a comment might seem to begin, and these shaders no /* */.
/** @param {string} text */
const bare = (text) => text.replace(/\/\/.*/g, "").replace(/^\s+|[ \t]+$/gm, "");
for (const [dir, ...files] of list("-f", '{{.Dir}}{{range .EmbedFiles}}\t{{.}}{{end}}', "./core/...")) {
  for (const file of files.filter((f) => f.endsWith(".wgsl"))) {
    const from = join(dir, file), to = join(folder, from.slice(root.length));
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, bare(readFileSync(from, "utf8")));
    Replace[from] = to;
  }
}
process.stdout.write(JSON.stringify({ Replace }, null, 1));
