// A GPU with little memory, in two engines on adapters that are programs: each allocation above
// a limit is refused as a browser refuses one.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { host, open, ready, rebundled, root, stage, webgpu } from "./browser.mjs";
import { missing, sharedFirefox } from "./firefox.mjs";

const { alone } = await stage(...webgpu.chromium);
const firefox = sharedFirefox(webgpu.firefox);
const lavapipe = "/usr/share/vulkan/icd.d";
const driver = fs.existsSync(lavapipe) && fs.readdirSync(lavapipe).some((name) => name.startsWith("lvp_"));

const browsers = {
  Chromium: { skip: false, visit: async (t, url) => open(await alone(t, { serviceWorkers: "allow" }), url) },
  Firefox: { skip: missing || (driver ? false : "there is no driver that is a program here: install mesa-vulkan-drivers"), async visit(t, url) {
    const page = await (await firefox()).page(url, t);
    await ready(page);
    return page;
  } },
};

const LIMIT = 5 << 20; // bytes: a model of 32 units fits there, with some rows, and one of 1,000 does not

// refuse has the device's error scope tell of memory that is not there, from now on.
const refuse = `(device) => {
  const make = device.createBuffer.bind(device), pop = device.popErrorScope.bind(device);
  let refused = false;
  device.createBuffer = (what) => {
    refused = what.size > ${LIMIT};
    return make(refused ? { ...what, size: 256 } : what);
  };
  device.popErrorScope = async () => {
    const own = refused;
    return await pop() ?? (own ? new GPUOutOfMemoryError("planted") : null);
  };
}`;

for (const [name, { skip, visit }] of Object.entries(browsers)) {
  test(`a GPU that refuses memory takes fewer rows at once, or none, ${name}`, { skip }, async (t) => {
    const worker = await rebundled("trainer-worker.js", { "gpu.js": (text) => text.replace("const layout =", `(${refuse})(device);\n  const layout =`) });
    const site = await host(t, path.join(root, "dist"), "/", async (file) => file === "web/trainer-worker.js" ? worker : undefined);
    const page = await visit(t, site.origin + "/");
    const [refused, alike, small, simd] = await page.evaluate(async () => {
      const config = {
        data: "digits", model: { kind: "mlp", hidden: [32] }, method: "constant", noise_multiplier: 1, target_delta: 1e-5,
        expected_batch_size: 400, steps: 3, learning_rate: 0.2, accountant: "rdp", seed: 5, backend: "webgpu",
      };
      const outcome = async (change) => {
        const { backend, notes, epsilon, steps, released } = await (await clipscope.train({ ...config, ...change })).done;
        return { backend, notes: (notes ?? []).join(" "), epsilon, steps, parameters: [...released.parameters] };
      };
      const first = await outcome({}), rows = Number(/memory for (\d+) rows/.exec(first.notes)?.[1]);
      return [
        { ...first, rows }, await outcome({ max_physical_batch_size: rows || 1 }),
        await outcome({ model: { kind: "mlp", hidden: [1000] }, expected_batch_size: 20, steps: 1 }), await outcome({ backend: "simd" }),
      ];
    });
    assert.match(refused.notes, /has memory for \d+ rows at once, not for 521: each step took them in more parts\./);
    assert.ok(refused.rows > 0 && refused.rows < 400, `${refused.rows} rows`);
    assert.deepEqual([refused.backend, alike.backend, small.backend], ["webgpu", "webgpu", "simd"]);
    assert.doesNotMatch(alike.notes, /memory for/);
    assert.deepEqual(refused.parameters, alike.parameters);
    assert.deepEqual([refused.epsilon, refused.steps], [simd.epsilon, simd.steps]);
    const far = Math.max(...refused.parameters.map((v, i) => Math.abs(v - simd.parameters[i])));
    assert.ok(far < 2e-3, `parameters are up to ${far} apart`);
    assert.match(small.notes, /The run went on with SIMD: .*there is room for/);
    assert.equal(small.steps, 1);
    assert.deepEqual(page.errors, []);
  });
}
