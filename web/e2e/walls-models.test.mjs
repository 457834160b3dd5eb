// What gets in as a model: files that would run without end are refused by name, what ONNX
// Runtime says of others has no path of the machine that built it, a call that goes on is told
// of and can be ended, and what a saved model says of its own privacy is shown as its claim.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, ready, stage, STILL } from "./browser.mjs";
import { missing, sharedFirefox } from "./firefox.mjs";
import { FLOAT, constant, message, model, node, put, value } from "./onnx.mjs";

const { server, visit } = await stage();
const firefox = sharedFirefox({});

const x = value("x", FLOAT, ["n", 2]), y = value("y", FLOAT, ["n", 2]), open = value("y", FLOAT, ["a", "b"]);
/** @param {string} name @param {Buffer[]} parts */
const graph = (name, ...parts) => put(5, message(put(1, name), put(6, message(...parts)), put(20, 5)));
const relu = put(1, node("Relu", ["x"], ["y"]));
/** @param {string} op @param {Buffer[]} parts */
const withGraph = (op, ...parts) => message(node(op, ["x"], ["y"]), ...parts);
const calls = (/** @type {string} */ name, /** @type {string[]} */ ...of) => put(25, message(put(1, name), put(10, "f"), ...of.map((o) => put(7, message(put(4, o), put(7, "f"))))));
const doubling = message(model({ nodes: [node("f0", ["x"], ["y"], {}, "f")], inputs: [x], outputs: [y] }), ...Array.from({ length: 40 }, (_, i) => calls(`f${i}`, `f${i + 1}`, `f${i + 1}`)));

/** @type {[string, Buffer, RegExp][]} */
const models = [
  ["loop.onnx", model({ nodes: [withGraph("Loop", graph("body", relu))], inputs: [x], outputs: [y] }), /loop\.onnx: .*found the operator Loop, which runs a graph as often as values say/],
  ["scan.onnx", model({ nodes: [withGraph("Scan", graph("body", relu))], inputs: [x], outputs: [y] }), /the operator Scan/],
  ["doubling.onnx", doubling, /at most 65536 operators once functions stand where they are called/],
  ["elsewhere.onnx", model({ nodes: [node("Add", ["x", "w"], ["y"])], constants: [message(put(1, 2), put(2, FLOAT), put(8, "w"), put(13, message(put(1, "location"), put(2, "../../etc/passwd"))), put(14, 1))], inputs: [x], outputs: [y] }), /weights in another file/],
  ["lying.onnx", model({ nodes: [node("Add", ["x", "w"], ["y"])], constants: [constant("w", [1 << 20, 1 << 20], Float32Array.of(1))], inputs: [x], outputs: [y] }), /as many values as their shapes say/],
  // These reach the runtime, whose words begin with where in its sources they were written.
  ["later.onnx", model({ nodes: [node("Relu", ["x"], ["y"])], inputs: [x], outputs: [y], operators: 99 }), /cannot be run \(ONNX Runtime only/],
  ["reshape.onnx", model({ nodes: [node("Reshape", ["x", "s"], ["y"])], constants: [constant("s", [2], BigInt64Array.of(7n, 9n))], inputs: [x], outputs: [open] }), /\(input_shape_size == requested_shape_size was false/],
  ["zeros.onnx", model({ nodes: [node("ConstantOfShape", ["s"], ["z"]), node("ReduceSum", ["z"], ["t"], { keepdims: 0 }), node("Add", ["x", "t"], ["y"])], constants: [constant("s", [2], BigInt64Array.of(1n << 20n, 1n << 20n))], inputs: [x], outputs: [y] }), /Tensor shape is too large/],
  // This one asks for 2 GB, and a file of its size may take less than one.
  ["large.onnx", model({ nodes: [node("ConstantOfShape", ["s"], ["z"]), node("ReduceSum", ["z"], ["t"], { keepdims: 0 }), node("Add", ["x", "t"], ["y"])], constants: [constant("s", [1], BigInt64Array.of(1n << 29n))], inputs: [x], outputs: [y] }), /large\.onnx: /],
];

/** @param {any} page */
async function refusals(page) {
  const sent = models.map(([name, b]) => ({ name, text: b.toString("base64") }));
  const said = await page.evaluate(async (/** @type {{ name: string, text: string }[]} */ sent) => {
    const table = new File(["a,b,kind\n" + "1,2,x\n3,4,y\n".repeat(20)], "t.csv"), raw = await window.clipscope.open({ train: [table] });
    const all = [];
    for (const { name, text } of sent) {
      const file = new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], name);
      all.push(await window.clipscope.features(file, raw).then((d) => { d.close(); return ""; }, (e) => e.message));
    }
    return all;
  }, sent);
  for (const [i, [name, , want]] of models.entries()) {
    assert.match(said[i], want, name);
    assert.doesNotMatch(said[i], /\/mnt\/|\/onnxruntime\/|\.(cc|h):\d+|onnxruntime::/, name);
  }
  return said;
}

test("models without end are refused by name, and no refusal has a build machine's path", async (t) => {
  const page = await visit(t, STILL);
  t.diagnostic((await refusals(page)).join("\n"));
  assert.deepEqual(page.errors, []);
});

test("models without end are refused by name, Firefox", { skip: missing }, async (t) => {
  const page = await (await firefox()).page(server.url, t);
  await ready(page);
  await refusals(page);
  assert.deepEqual(page.errors, []);
});

test("a model that goes on is told of, and Stop ends it", async (t) => {
  const page = await visit(t, "");
  const size = 2048, steps = 4000; // 4,000 products of 2048³: hours
  const nodes = [node("Expand", ["one", "s"], ["m0"])];
  for (let i = 0; i < steps; i++) nodes.push(node("MatMul", [`m${i}`, "m0"], [`m${i + 1}`]));
  nodes.push(node("ReduceMax", [`m${steps}`], ["t"], { keepdims: 0 }), node("Mul", ["t", "zero"], ["u"]), node("Add", ["x", "u"], ["v"]), node("ReduceMax", ["x"], ["w"], { keepdims: 0 }), node("Mul", ["w", "zero"], ["one0"]));
  const slow = model({ nodes: [node("ReduceMax", ["x"], ["top"], { keepdims: 0 }), node("Mul", ["top", "zero"], ["one"]), ...nodes.slice(0, -2), node("Identity", ["v"], ["y"])],
    constants: [constant("s", [2], BigInt64Array.of(BigInt(size), BigInt(size))), constant("zero", [], Float32Array.of(0))], inputs: [x], outputs: [y] });
  await page.setInputFiles("#files", { name: "t.csv", mimeType: "text/csv", buffer: Buffer.from("a,b,kind\n" + "1,2,x\n3,4,y\n".repeat(20)) });
  await eventually(async () => assert.match(await page.textContent("#card-data"), /2 classes/));
  await page.setInputFiles("#backbone-file", { name: "slow.onnx", mimeType: "", buffer: slow });
  await page.click("#backbone-make");
  await eventually(async () => assert.match(await page.textContent("#backbone"), /Trying slow\.onnx on a made-up row… \d+ s\./));
  await page.locator("#backbone .loading button").click();
  await eventually(async () => assert.equal(await page.locator("#backbone .loading:not([hidden])").count(), 0));
  assert.deepEqual(page.errors, []);
});

test("what a model's file says of its privacy is its claim, and the page offers to check it", async (t) => {
  const page = await visit(t, "use");
  const layers = [{ layer: "dense:2", shape: [2], parameters: 6 }];
  const saved = { format: "clipscope-model", version: 1, config: {}, guarantee: "Clipscope has checked that ε = 0.001 holds.", epsilon: 0.001, delta: 1e-9, accountant: "pld", steps: 3,
    apply: { task: "classification", outputs: 2, features: 2, scaling: { kind: "none" }, layers }, parameters: [1, 2, 3, 4, 5, 6] };
  await page.setInputFiles("#use-model", { name: "forged.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify(saved)) });
  await eventually(async () => {
    const about = await page.locator("#about").textContent();
    assert.match(about, /ε, claimed.*δ, claimed.*The file claims: Clipscope has checked.*has not worked it out again/s);
    assert.equal(await page.locator("#about .value-released").count(), 0);
  });
  if (process.env.CLIPSCOPE_LOOK) for (const [width, height, colorScheme] of /** @type {[number, number, "light" | "dark"][]} */ ([[1280, 800, "light"], [1280, 800, "dark"], [390, 844, "light"], [390, 844, "dark"]])) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: `${process.env.CLIPSCOPE_LOOK}/claim-${width}-${colorScheme}.png`, fullPage: true });
  }
  await page.locator("#check-model").click();
  await eventually(async () => {
    assert.match(page.url(), /\/check$/);
    assert.match(await page.locator(".verdict-file").textContent(), /forged\.json: saved model, JSON/);
  });
  assert.deepEqual(page.errors, []);
});
