// What axe-core has to say of a page.
import fs from "node:fs";
import { createRequire } from "node:module";

const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

// audited is what axe-core calls serious or critical, in the light and in the dark, where
// only colours differ, once transitions have ended. The page's policy lets no script in, so
// the browser's tools have it. The frame, where it is not the page itself, is one of another
// origin.
/** @param {any} page @param {string} state @param {string[]} except rules @param {any} frame */
export async function audited(page, state, except = [], frame = page.mainFrame()) {
  const tools = await page.context().newCDPSession(page);
  const contexts = [];
  tools.on("Runtime.executionContextCreated", ({ context }) => { if (context.auxData.isDefault) contexts.push(context); });
  await tools.send("Runtime.enable");
  const { id } = contexts.find((c) => c.origin === new URL(frame.url()).origin);
  const { exceptionDetails } = await tools.send("Runtime.evaluate", { expression: axe, contextId: id });
  if (exceptionDetails) throw new Error(exceptionDetails.text);
  const found = [];
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    found.push(...await frame.evaluate(async ([state, colorScheme, except]) => {
      await Promise.allSettled(document.getAnimations().filter((a) => a.playState === "running" && Number.isFinite(a.effect?.getComputedTiming().endTime)).map((a) => a.finished));
      const options = { resultTypes: ["violations"], iframes: false, preload: false, rules: Object.fromEntries(except.map((rule) => [rule, { enabled: false }])) };
      if (colorScheme === "dark") Object.assign(options, { runOnly: ["color-contrast", "link-in-text-block"] });
      const { violations } = await window["axe"].run(document, options);
      return violations.filter((v) => ["serious", "critical"].includes(v.impact))
        .map((v) => `${state}, ${colorScheme}: ${v.help}: ${v.nodes.map((n) => n.target).join(", ")}`);
    }, [state, colorScheme, except]));
  }
  await tools.detach();
  return found;
}
