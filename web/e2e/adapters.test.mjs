// The GPU in two engines, each on an adapter that is a program (and early in the
// alphabet, in which files of tests are run, as this is the longest): Chromium on SwiftShader
// (Dawn and Tint), Firefox on lavapipe (wgpu and naga).
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { eventually, hasShared, host, open, ready, rebundled, root, stage, webgpu } from "./browser.mjs";
import { missing, sharedFirefox } from "./firefox.mjs";
import { goTest } from "./gotest.mjs";

const { alone, server, visit } = await stage(...webgpu.chromium);
const firefox = sharedFirefox(webgpu.firefox);

// Without a driver that is a program there is nothing in Firefox to test: Debian's
// package mesa-vulkan-drivers has it. With it, an adapter that does not come is a failure.
const lavapipe = "/usr/share/vulkan/icd.d";
const driverless = fs.existsSync(lavapipe) && fs.readdirSync(lavapipe).some((name) => name.startsWith("lvp_")) ? false :
  "there is no driver that is a program here: install mesa-vulkan-drivers";

const browsers = {
  Chromium: { skip: false, visit: (t) => visit(t, "") },
  Firefox: { skip: missing || driverless, async visit(t) {
    const page = await (await firefox()).page(server.url, t);
    await ready(page);
    return page;
  } },
};

const TRANSFORMERS = "^(TestCheckpointsOfTransformers|TestAdapterOfPEFT|TestPartsOfLayersHaveTheirGradients)$";

for (const [name, { skip, visit }] of Object.entries(browsers)) {
  test(`every kernel passes the suite as a shader, ${name}`, { skip }, async () => {
    const said = await goTest(name, "./core/compute/webgpu", ".", "-short");
    assert.match(said, /adapter: .*Fallback:true/);
    assert.match(said, /--- PASS: TestBackendPassesTheSuite\/Gemm/);
  });

  test(`transformers have the numbers of their own libraries on the GPU, ${name}`, { skip }, async () => {
    const said = await goTest(name, "./core/nn", TRANSFORMERS, "-short");
    assert.match(said, hasShared("reference/transformers/expected.json") ? /--- PASS: TestAdapterOfPEFT/ : /--- SKIP: TestAdapterOfPEFT/);
    assert.match(said, /on webgpu/);
  });

  // In Chromium alone, as each of these tests waits thousands of times; with the GPU, those
  // SIMD kernels that Node does not have.
  if (name === "Chromium") {
    test(`layers, methods and laws hold on the GPU, ${name}`, { skip }, async () => {
      assert.match(await goTest(name, "./core/nn", "^Test", "-short", "-skip", TRANSFORMERS), /--- PASS: TestGhostNormsEqualThoseOfFormedGradients\/webgpu/);
      const said = await goTest(name, "./core/train", "^(TestBackendsAgree|TestWeightsOnTheBackendStayWithinC|TestNoPictureAddsMoreThanStated)$", "-short", "-skip", "^TestNoPictureAddsMoreThanStated$/^simd");
      for (const passed of ["TestBackendsAgree", "TestWeightsOnTheBackendStayWithinC", "TestNoPictureAddsMoreThanStated/webgpu/constant", "TestNoPictureAddsMoreThanStated/webgpu/dc-e"]) assert.match(said, new RegExp(`--- PASS: ${passed} `));
    });
  }

  test(`a run on the GPU ends as it does on SIMD, ${name}`, { skip }, async (t) => {
    const page = await visit(t);
    // The second pair starts from the first run's model, whose first layer stands still: what that makes of rows stays on the GPU.
    const pairs = await page.evaluate(async () => {
      const config = {
        data: "digits", model: { kind: "mlp", hidden: [32] }, method: "constant", noise_multiplier: 1, target_delta: 1e-5,
        expected_batch_size: 64, steps: 12, learning_rate: 0.2, accountant: "rdp", seed: 5,
      };
      const outcome = async (backend, more, options) => (await clipscope.train({ ...config, ...more, backend }, undefined, options)).done;
      const first = { gpu: await outcome("webgpu"), simd: await outcome("simd") };
      const more = { start: { trainable: "head", public: true }, max_physical_batch_size: 16, eval_steps: 4 }, options = { start: first.simd };
      const still = { gpu: await outcome("webgpu", more, options), simd: await outcome("simd", more, options) };
      const told = ({ backend: on, notes, epsilon, steps, released }) => ({ on, notes: (notes ?? []).join(" "), epsilon, steps, parameters: [...released.parameters] });
      return [first, still].map(({ gpu, simd }) => ({ gpu: told(gpu), simd: told(simd) }));
    });
    for (const { gpu, simd } of pairs) {
      assert.deepEqual([gpu.on, simd.on], ["webgpu", "simd"]);
      assert.match(gpu.notes, /WebGPU on an adapter that is a program/);
      assert.deepEqual([gpu.epsilon, gpu.steps], [simd.epsilon, simd.steps]);
      const far = gpu.parameters.map((v, i) => Math.abs(v - simd.parameters[i]));
      assert.ok(Math.max(...far) < 2e-3, `parameters are up to ${Math.max(...far)} apart`);
    }
    const [first, still] = pairs.map(({ simd }) => simd.parameters), frozen = 784 * 32 + 32;
    assert.deepEqual(still.slice(0, frozen), first.slice(0, frozen), "the first layer stands still");
    assert.notDeepEqual(still.slice(frozen), first.slice(frozen));
    assert.deepEqual(page.errors, []);
  });

  test(`the page trains on the GPU by its own controls, ${name}`, { skip }, async (t) => {
    const page = await visit(t);
    await page.waitForFunction(() => document.querySelector("#act-start")?.getAttribute("aria-disabled") === "false");
    await page.evaluate(() => { location.hash = "#data=moons&steps=4000"; });
    await page.waitForFunction(() => document.querySelector(".progress .steps")?.textContent.includes("/ 4,000"));
    await page.evaluate(() => /** @type {HTMLElement} */ (document.querySelector("#card-optimiser .card-head")).click());
    await page.waitForFunction(() => document.querySelector("#f-backend"));
    await page.evaluate(() => {
      const menu = /** @type {HTMLSelectElement} */ (document.querySelector("#f-backend"));
      menu.value = "webgpu";
      menu.dispatchEvent(new Event("change", { bubbles: true }));
    });
    await page.waitForFunction(() => location.hash.includes("backend=webgpu") && document.querySelector("#act-start").getAttribute("aria-disabled") === "false");
    await page.evaluate(() => /** @type {HTMLElement} */ (document.querySelector("#act-start")).click());
    await page.waitForFunction(() => /^[\d.]+ ms and [\d.]+ [kM]B a step, WebGPU on ./.test(document.querySelector("#run-place").textContent));
    await page.evaluate(() => /** @type {HTMLElement} */ (document.querySelector("#act-stop")).click());
    await eventually(async () => {
      const said = await page.evaluate(() => [document.querySelector("#run-place").textContent, document.querySelector("#result").textContent, document.querySelector("#result [title*=WebGPU]").getAttribute("title")]);
      assert.match(said[0], /^[\d.]+ ms a step, WebGPU on .+/);
      assert.match(said[2], /^[\d.]+ ms a step, WebGPU on .+/);
      assert.match(said[1], /an adapter that is a program, not a GPU/);
    });
    assert.deepEqual(page.errors, []);
  });

  test(`a program is no rival of SIMD, ${name}`, { skip }, async (t) => {
    const page = await visit(t);
    const { backend, chosen, places } = await page.evaluate(async () => {
      const run = await clipscope.train({ data: "moons", steps: 3 }), places = [];
      run.onPlace((place) => places.push(place));
      const { backend, chosen } = await run.done;
      return { backend, chosen: chosen ?? "nothing else", places };
    });
    assert.deepEqual([backend, chosen], ["simd", "nothing else"]);
    assert.match(places.at(-1).why, /^WebGPU was not tried: .+: it is a program, and no GPU\.$/);
    assert.equal(places.at(-1).backend, "simd");
    assert.ok(!places.at(-1).trying);
  });
}

// With a program that passes for a GPU: one that is faster there is not to be had here.
test("a GPU is tried on made-up rows, and not taken where SIMD is faster", async (t) => {
  const worker = await rebundled("trainer-worker.js", { "gpu.js": (text) => text.replace(/fallback: Boolean\(.*\),/, "fallback: false,") });
  const site = await host(t, path.join(root, "dist"), "/", async (name) => name === "web/trainer-worker.js" ? worker : undefined);
  const page = await open(await alone(t, { serviceWorkers: "allow" }), site.origin + "/");
  const { places, result } = await page.evaluate(async () => {
    const run = await clipscope.train({ data: "digits", steps: 100_000, accountant: "rdp", noise_multiplier: 50 }), places = [];
    run.onPlace((place) => places.push(place));
    await new Promise((resolve) => { run.on(resolve); });
    run.stop();
    return { places, result: await run.done };
  });
  assert.deepEqual(places.map((p) => !!p.trying), [true, false]);
  assert.equal(places[1].backend, "simd");
  assert.match(places[1].why, /^SIMD.* takes [\d.e+]+ ms a step, WebGPU on .* would take [\d.e+]+ ms\.$/);
  assert.deepEqual([result.backend, result.chosen, result.stopped], ["simd", places[1].why, true]);
  assert.deepEqual(page.errors, []);
});

// With a compiler that never ends.
test("a run that a GPU's programs are compiled for is stopped all the same, and says what it waits for", async (t) => {
  const worker = await rebundled("trainer-worker.js", { "gpu.js": (text) => text.replace(/async compile\(.*?\) \{/, "$& await new Promise(() => {});") });
  const site = await host(t, path.join(root, "dist"), "/", async (name) => name === "web/trainer-worker.js" ? worker : undefined);
  const page = await open(await alone(t, { serviceWorkers: "allow" }), site.origin + "/#data=digits&backend=webgpu");
  await page.locator("#act-start:not([aria-disabled=true])").click();
  await eventually(async () => assert.equal(await page.locator("#run-place").textContent(), "WebGPU compiles its programs…"));
  await page.locator("#act-stop").click();
  await eventually(async () => assert.match(await page.locator("#result").textContent(), /Nothing was trained and nothing was released/));
  await eventually(async () => assert.match(await page.locator(".runbar").textContent(), /stopped before its first step. Nothing was released/));
  await page.evaluate(() => { location.hash = "#data=moons&steps=20&backend=simd"; });
  await page.locator("#act-start:not([aria-disabled=true])", { hasText: "New run" }).click();
  await eventually(async () => assert.match(await page.locator(".runbar").textContent(), /step 20 \/ 20/));
  assert.deepEqual(page.errors, []);
});

// Without a browser: which of the two comes first is the browser's to choose.
for (const [when, range, why, taken] of /** @type {const} */ ([
  ["before", () => { throw new Error("the buffer is gone"); }, "the buffer is gone", undefined],
  ["while Go is told", () => new ArrayBuffer(8), "", false],
  ["after", () => new ArrayBuffer(8), "", true],
])) {
  test(`what a GPU that is closed ${when} had still to give is no error of the program's`, async () => {
    const nothing = new Proxy(() => nothing, { get: (_, name) => name === "then" ? undefined : nothing });
    /** @type {ArrayBuffer | undefined} */
    let mapped;
    const staging = { mapAsync: async () => {}, getMappedRange: () => (mapped = range()), unmap() {}, destroy() {}, size: 256 };
    const device = new Proxy({ limits: {}, lost: new Promise(() => {}), createBuffer: () => staging }, { get: (own, name) => own[name] ?? (name === "then" ? undefined : nothing) });
    const adapter = { limits: {}, requestDevice: async () => device };
    Object.defineProperty(globalThis, "navigator", { value: { gpu: { requestAdapter: async () => adapter } }, configurable: true });
    const { gpu: driver } = await import(`../gpu.js?${encodeURIComponent(when)}`); // anew, in this browser
    driver.attach(/** @type {any} */ ({ exports: { mem: { buffer: new ArrayBuffer(64) } } }));
    const gpu = /** @type {any} */ (await driver.open([], 256, 4));
    const told = new Promise((resolve) => { gpu.told = (...what) => resolve(what); });
    gpu.submit(0, 0, 0, 0, 1);
    assert.deepEqual(await told, [0, why]);
    assert.equal(gpu.mapping, 0);
    if (mapped && !taken) structuredClone(mapped, { transfer: [mapped] }); // as closing does
    if (mapped) assert.equal(gpu.take(0, 0, 1), taken);
  });
}
