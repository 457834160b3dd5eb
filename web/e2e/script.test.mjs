// The experiment as a program: what it says trains the same, and Python reads what is meant for Opacus.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import path from "node:path";
import { test } from "node:test";
import { eventually, narrow, results, stage } from "./browser.mjs";
import { PYTHON } from "./python.mjs";

const { visit } = await stage();

test("an experiment is a script that trains the same", async (t) => {
  const page = await visit(t, "#data=moons&method=constant&max_grad_norm=0.7&target_epsilon=3&steps=40&expected_batch_size=100&model.hidden=8&model.kind=mlp");
  await page.locator("#act-start[aria-disabled=false]").waitFor();
  await page.click("#script summary");
  await page.locator("#script-python").waitFor();
  const text = await page.locator("#script-javascript").textContent() ?? "", python = await page.locator("#script-python").textContent() ?? "";
  const spent = await page.evaluate(`(async () => { ${text} return { epsilon, delta, test_accuracy, said: statement.text }; })()`);
  assert.ok(spent.epsilon > 2.9 && spent.epsilon <= 3 && spent.test_accuracy > 0.4, JSON.stringify(spent));
  assert.match(spent.said, /over 40 planned steps[^]*max_grad_norm = 0\.7\./);
  assert.match(python, /torch\.nn\.Linear\(2, 8\),\n {4}torch\.nn\.Tanh\(\),\n {4}torch\.nn\.Linear\(8, 2\),/);
  assert.match(python, /max_grad_norm=0\.7,/);
  if (PYTHON) execFileSync(PYTHON, ["-c", "import ast, sys; ast.parse(sys.stdin.read())"], { input: python });
  await page.locator("#script").scrollIntoViewIfNeeded();
  await page.screenshot({ path: path.join(results, "script-wide-light.png") });
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.evaluate(() => { // a browser that refuses once
    const clipboard = navigator.clipboard, write = clipboard.writeText;
    clipboard.writeText = () => { clipboard.writeText = write; return Promise.reject(new Error("refused")); };
  });
  await page.click("#copy-javascript");
  await eventually(async () => assert.match(await page.innerText("#copy-javascript"), /^Refused/));
  await page.click("#copy-javascript");
  await eventually(async () => assert.match(await page.innerText("#copy-javascript"), /Copied/));
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), text);
  assert.deepEqual(page.errors, []);
});

test("what Opacus has not is said, on a phone, too", async (t) => {
  const page = await visit(t, "#data=moons&method=dc-e&target_epsilon=3&steps=40", { viewport: narrow });
  await page.locator("#act-start[aria-disabled=false]").waitFor();
  await page.locator("button", { hasText: "Setup" }).click();
  await page.click("#script summary");
  await eventually(async () => assert.match(await page.innerText("#script-lacks-python"), /^For Opacus there is none: Opacus has no dc-e\.$/));
  assert.match(await page.innerText("#script-lacks-fastdp"), /^For fastDP there is none: fastDP has no dc-e\.$/);
  await page.locator("#script").scrollIntoViewIfNeeded();
  await page.screenshot({ path: path.join(results, "script-narrow-light.png") });
  assert.deepEqual(page.errors, []);
});
