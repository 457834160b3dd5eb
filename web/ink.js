// The stylesheet's colours, as a canvas needs them.
/** @import { Ink } from "./types.d.ts" */

/** @type {Ink[]} */
const names = ["released", "diagnostic", "second", "third", "lane1", "lane2", "lane3", "lane4", "lane5", "lane6", "text", "muted", "grid", "surface"];

// readInks returns the colours of the theme that is shown now.
export function readInks() {
  const probe = document.createElement("span");
  probe.hidden = true;
  document.documentElement.append(probe);
  const found = /** @type {Record<Ink, string>} */ ({});
  for (const name of names) {
    probe.className = "ink-" + name;
    found[name] = getComputedStyle(probe).color;
  }
  probe.remove();
  return found;
}
