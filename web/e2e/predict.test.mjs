// web/predict.mjs, which applies saved models without the page: it does as the page does.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { answers, load, table } from "../predict.mjs";
import { file, root, stage, STILL } from "./browser.mjs";
import { numpy, python, PYTHON, withoutNumpy } from "./python.mjs";

const { visit } = await stage();

// pictures are rows of 8×8 bytes of three kinds, as IDX files.
function pictures(n, seed) {
  let state = seed;
  const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  const labels = Array.from({ length: n }, (_, i) => i % 3);
  const rows = labels.map((k) => Array.from({ length: 64 }, (_, i) => Math.floor(120 * random() + ([i % 8 < 4, i < 32, i % 9 === 0][k] ? 110 : 0))));
  const header = (kind, ...sizes) => [0, 0, 8, kind, ...sizes.flatMap((s) => [s >>> 24, s >>> 16 & 255, s >>> 8 & 255, s & 255])];
  return { rows, labels, images: Uint8Array.from([...header(3, n, 8, 8), ...rows.flat()]), truth: Uint8Array.from([...header(1, n), ...labels]) };
}

for (const [name, model, more] of /** @type {[string, object, object][]} */ ([
  ["every layer for pictures", { kind: "layers", layers: ["conv:4:3:p1", "groupnorm:2", "relu", "skip:6:s2", "wsconv:6:3:s2:p1", "add", "skip", "tanh", "add", "maxpool:2:s1", "avgpool:2:s1", "bias", "flatten", "dense:5", "relu", "dense"] }, {}],
  ["a mean of all positions", { kind: "layers", layers: ["conv:6:3", "relu", "globalpool", "dense"] }, {}],
  ["directions", { kind: "softmax" }, { pca: { components: 5 } }],
  ["rows of one length", { kind: "mlp", hidden: [7], activation: "tanh" }, { scaling: { kind: "row" } }],
  ["bounded rows", { kind: "softmax" }, { method: "value" }],
])) {
  test(`predict.mjs answers as the page does: ${name}`, async (t) => {
    const page = await visit(t, STILL), learn = pictures(300, 1), held = pictures(240, 2);
    const { result, json } = await page.evaluate(async ({ config, files }) => {
      const [a, b, c, d] = files.map(({ name, base64 }) => new File([Uint8Array.from(atob(base64), (x) => x.charCodeAt(0))], name));
      const result = await (await clipscope.train(config, { train: [a, b], test: [c, d] })).done, { parameters, apply } = result.released;
      result.released.parameters = undefined;
      return { result, json: JSON.stringify({ parameters: [...parameters], apply }) };
    }, {
      config: { model, target_epsilon: 50, steps: 12, expected_batch_size: 100, optimizer: "adam", learning_rate: 0.05, ...more },
      files: [file("train-images-idx3-ubyte", learn.images), file("train-labels-idx1-ubyte", learn.truth), file("t10k-images-idx3-ubyte", held.images), file("t10k-labels-idx1-ubyte", held.truth)],
    });
    const loaded = load(json), confusion = [0, 1, 2].map(() => [0, 0, 0]);
    let sure = 0;
    held.rows.forEach((row, i) => {
      const { answer, outputs } = loaded.predict(row);
      confusion[held.labels[i]][Number(answer)]++;
      sure += Math.max(...outputs);
    });
    assert.deepEqual(confusion, result.test_scores.confusion);
    const told = result.test_scores.calibration.reduce((sum, c) => sum + c.rows * c.confidence, 0);
    assert.ok(Math.abs(sure - told) < 1e-4 * held.rows.length, `sure of ${sure / held.rows.length}, and the page of ${told / held.rows.length}`);
    assert.deepEqual(page.errors, []);
  });
}

test("predict.mjs answers numbers", async (t) => {
  const page = await visit(t, STILL);
  const rows = Array.from({ length: 400 }, (_, i) => [i % 20 / 10, i % 7 / 3, 3 * (i % 20 / 10) - i % 7 / 3 + 1]);
  const csv = "a,b,y\n" + rows.map((r) => r.join(",")).join("\n");
  const result = await page.evaluate(async (csv) => {
    const config = { csv: { label: "y" }, scaling: { kind: "declared", lo: 0, hi: 2 }, target_epsilon: 50, steps: 100, expected_batch_size: 100 };
    const r = await (await clipscope.train(config, { train: [new File([csv], "numbers.csv")], test: [new File([csv], "numbers.test.csv")] })).done;
    return { json: JSON.stringify({ parameters: [...r.released.parameters], apply: r.released.apply }), error: r.test_scores.mean_absolute_error };
  }, csv);
  const loaded = load(result.json), off = rows.map(([a, b, y]) => Math.abs(Number(loaded.predict([String(a), String(b), ""]).answer) - y));
  assert.ok(Math.abs(off.reduce((x, y) => x + y) / rows.length - result.error) < 1e-4);
  assert.deepEqual(page.errors, []);
});

// A model of one numeric and one categorical column, as files have it.
const small = (column = {}, scaling = { kind: "none" }) => JSON.stringify({
  parameters: [1, 0, 0, 1, 0.5, 0.5, 0, 0],
  apply: { task: "classification", outputs: 2, classes: ["no", "yes"], features: 3, scaling, layers: [{ layer: "dense", shape: [2], parameters: 8 }],
    columns: [{ name: "size", kind: "numeric", first: 0, ...column }, { name: "kind", kind: "categorical", first: 1, categories: ["red", "(missing)"] }] },
});

// What the page makes of odd cells, by go test -run OddCells ./core/data/table.
const odd = JSON.parse(fs.readFileSync(path.join(root, "core/data/table/testdata/cells.json"), "utf8"));

test("cells are read as the page reads them", (t) => {
  assert.ok(odd.cells.length > 400 && odd.columns.length === 16);
  const models = odd.columns.map(({ features, ...column }) => small({ if_missing: -12345 + (column.offset ?? 0), ...column })), wrong = [];
  const compare = (who, have) => odd.columns.forEach(({ features, ...column }, i) => odd.cells.forEach((cell, k) => {
    const want = features[k] === null ? null : Math.fround(features[k]);
    if (have[i][k] !== want) wrong.push(`${who}: ${JSON.stringify(cell)} in ${JSON.stringify(column)} is ${have[i][k]}, and not ${want}`);
  }));
  compare("predict.mjs", models.map((text) => {
    const model = load(text);
    return odd.cells.map((cell) => {
      try {
        return model.features([cell, "red"])[0];
      } catch (e) {
        assert.match(/** @type {Error} */ (e).message, /which is no (number|date|time)|its training cells had/);
        return null;
      }
    });
  }));
  if (numpy) {
    compare("predict.py", python(`
import json, sys
from predict import load
def feature(model, cell):
    try:
        return model.features([[cell, "red"]])[0][0]
    except ValueError:
        return None
models, cells = json.load(sys.stdin)
json.dump([[feature(model, cell) for cell in cells] for model in (load(m.encode()) for m in models)], sys.stdout)`, [models, odd.cells]));
  } else t.diagnostic(withoutNumpy);
  assert.deepEqual(wrong, []);
});

test("categories are found, and what is missing has a place of its own", (t) => {
  const rows = [[small({ if_missing: 4, indicator: 2 }), "NA", "blue"], [small(), "1", "k. A."], [small(), "2", " red\u2003"]], want = [[4, 0, 1], [1, 0, 1], [2, 1, 0]];
  assert.deepEqual(rows.map(([model, ...cells]) => [...load(model).features(cells)]), want);
  if (!numpy) return t.diagnostic(withoutNumpy);
  assert.deepEqual(python("import json, sys\nfrom predict import load\njson.dump([load(m.encode()).features([cells])[0].tolist() for m, *cells in json.load(sys.stdin)], sys.stdout)", rows), want);
});

test("what is no model, no number and no column is said", () => {
  for (const [f, said] of /** @type {[() => unknown, RegExp][]} */ ([
    [() => load("{}"), /saved by an earlier version/],
    [() => load(small({}, { kind: "measured", left_out: "They were measured." })), /measured/],
    [() => load(small().replace("[1,0,", "[0,")), /has 7 parameters, and its layers take 8/],
    [() => load(small()).predict(["seven", "red"]), /"size" has "seven", which is no number/],
    [() => load(small()).predict(["", "red"]), /"size" is missing/],
    [() => load(small({ date: "ymd" })).predict(["yesterday", "red"]), /no date/],
    [() => load(small()).predict([1, 2]), /A row has 2 features, and the model takes 3/],
    [() => answers(load(small()), "size,colour\n1,red"), /no column "kind" in the table: it has size, colour/],
    [() => answers(load(small()), "kind,size\nred,1\nred,x"), /^Error: Row 3: Column "size"/],
  ])) assert.throws(f, said);
  assert.equal(answers(load(small()), "kind;size\n\"red\";3\n"), "answer,p(no),p(yes)\nno,0.880797,0.119203\n");
  assert.deepEqual(table('a,"b ""x""\ny"\r\n\r\n1,2'), [["a", 'b "x"\ny'], ["1", "2"]]);
});

test("tables that the page refuses are refused, and others are read as the page reads them", (t) => {
  const model = small({ if_missing: 4 }), broken = model.replace("[1,0,", "[null,0,").replace("null", '{"$numberDouble":"NaN"}'), named = model.replaceAll("size", "constructor").replace('"kind","kind"', '"__proto__","kind"').replace('"name":"kind"', '"name":"__proto__"');
  // Of one column, where a row may have nothing but a missing cell.
  const lone = JSON.stringify({ parameters: [1, 0, 0, 3.5], apply: { ...JSON.parse(model).apply, features: 1, layers: [{ layer: "dense", shape: [2], parameters: 4 }], columns: [{ name: "size", kind: "numeric", first: 0, if_missing: 4 }] } });
  const no = "no,0.880797,0.119203\n", head = "answer,p(no),p(yes)\n";
  const cases = /** @type {[string, string, string | RegExp][]} */ ([
    [model, "size,kind\n3,red\n", head + no],
    [model, "\ufeffkind;\u2003size \r\nred;3\r\n\r\n", head + no],
    [model, 'size,kind\n3, "red"\n', head + no],
    [model, `size,kind,note\n3,red,${"x".repeat(200_000)}\n`, head + no],
    [model, "size,kind\n", head],
    [lone, 'size\n3\n""\n\n5', head + "yes,0.377541,0.622459\nno,0.622459,0.377541\nno,0.817574,0.182426\n"],
    [model, '"a,b,c";size;kind\n1;3;red\n', head + no],
    [model.replaceAll("size", "si\\nze").replaceAll('"red"', '"r\\ned"'), '"si\r\nze";kind\r\n3;"r\r\ned"\r\n', head + no],
    [named, "constructor,__proto__\n3,red\n", head + no],
    [model, "size,kind\n3,5,red\n", /Row 2: It has 3 cells, and the first row has 2/],
    [model, "size,kind\n3,red\n3\n", /Row 3: It has 1 cells?, and the first row has 2/],
    [model, 'size,kind\n3,"red\n3,red\n', /quote is still open|cannot be read/],
    [model, "size,kind,size\n3,red,4\n", /two columns/],
    [broken, "size,kind\n3,red\n", /not finite numbers/],
  ]);
  for (const [model, text, want] of cases) {
    if (typeof want === "string") assert.equal(answers(load(model), text), want, text.slice(0, 50));
    else assert.throws(() => answers(load(model), text), want, text);
  }
  assert.throws(() => load(model).predict({ size: /** @type {any} */ (3), kind: "red" }), /"size" has 3: give cells as texts/);
  assert.deepEqual([...load(named).features({})], [4, 0, 1]);
  const wide = 150_000, apply = { task: "regression", outputs: 1, features: wide, scaling: { kind: "row" }, layers: [{ layer: "dense", shape: [1], parameters: wide + 1 }] };
  assert.ok(Math.abs(load(JSON.stringify({ parameters: new Array(wide + 1).fill(1), apply })).predict(new Float64Array(wide).fill(2)).outputs[0] - 1 - Math.sqrt(wide)) < 1e-6);
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), "clipscope-predict-"));
  t.after(() => fs.rmSync(dir, { recursive: true }));
  fs.writeFileSync(path.join(dir, "model.json"), model);
  fs.writeFileSync(path.join(dir, "rows.csv"), Buffer.from("size,kind\n3,gr\xfcn\n", "latin1"));
  for (const [program, ...args] of [[process.execPath, "predict.mjs"], ...numpy ? [[PYTHON, "-B", "predict.py"]] : []]) {
    const { status, stdout, stderr } = spawnSync(program, [...args, path.join(dir, "model.json"), path.join(dir, "rows.csv")], { cwd: path.join(root, "web"), encoding: "utf8" });
    assert.deepEqual([status, stdout], [1, ""]);
    assert.match(stderr, /not in UTF-8: save it as CSV in UTF-8/);
  }
  if (!numpy) return t.diagnostic(withoutNumpy);
  const said = python(`
import io, json, sys
from predict import answers, load
def said(model, text):
    out = io.StringIO()
    try:
        answers(load(model.encode()), text, out)
    except ValueError as e:
        return "refused: " + str(e)
    return out.getvalue()
json.dump([said(*case) for case in json.load(sys.stdin)], sys.stdout)`, cases.map(([model, text]) => [model, text]));
  cases.forEach(([, text, want], i) => typeof want === "string" ? assert.equal(said[i], want, text.slice(0, 50)) : assert.match(said[i], want));
});
