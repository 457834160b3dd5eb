import { launch, open } from "./browser.mjs";
const b = await launch(); const p = await open(await b.newContext(), "http://127.0.0.1:8123/help");
const base = { data: "digits", target_delta: 1e-5, optimizer: "sgd", max_grad_norm: 1 };
const tries = [
 { model: { kind: "softmax" }, method: "dc-e", target_epsilon: 2, expected_batch_size: 256, epochs: 40, learning_rate: 0.5 },
 { model: { kind: "mlp", hidden: [32] }, method: "dc-e", target_epsilon: 2, expected_batch_size: 512, epochs: 40, learning_rate: 0.3 },
 { model: { kind: "mlp", hidden: [32] }, method: "dc-e", target_epsilon: 4, expected_batch_size: 512, epochs: 60, learning_rate: 0.3 },
 { model: { kind: "mlp", hidden: [32] }, method: "dc-e", target_epsilon: 4, expected_batch_size: 512, epochs: 60, learning_rate: 0.1 },
 { model: { kind: "mlp", hidden: [64] }, method: "constant", target_epsilon: 2, expected_batch_size: 512, epochs: 40, learning_rate: 0.5 },
 { model: { kind: "mlp", hidden: [64] }, method: "psac", target_epsilon: 2, expected_batch_size: 512, epochs: 40, learning_rate: 0.5 },
 { model: { kind: "softmax" }, method: "constant", target_epsilon: 2, expected_batch_size: 512, epochs: 40, learning_rate: 1 },
 { model: { kind: "mlp", hidden: [64] }, method: "none", expected_batch_size: 256, epochs: 20, learning_rate: 0.3 },
];
for (const t of tries) {
  const r = await p.evaluate(async c => {
    const run = await clipscope.train(c); const ev = []; run.on(e => ev.push([e.step, e.released.max_grad_norm, e.diagnostic.clip_fraction, e.diagnostic.norms?.p50]));
    const r = await run.done; const at = f => ev[Math.floor(f * (ev.length - 1))].map(x => +(+x).toPrecision(3)).join("/");
    return [r.test_accuracy, r.epsilon, r.steps, r.train_seconds.toFixed(1), run.plan.noise_multiplier.toFixed(2), at(0), at(.05), at(.3), at(.6), at(1)].join("  ");
  }, { ...base, ...t });
  console.log(JSON.stringify(t.model), t.method, t.target_epsilon, t.expected_batch_size, t.learning_rate, "->", r);
}
await b.close();
