// Loads the program, app.wasm, which is the page and, in workers, the trainer. The
// page is there before it, as the generator drew it; #loading, at its top, says how
// far the loading is.
import { clipscope } from "./clipscope.js";
import { program, show } from "./program.js";
import { keep } from "./texts.js";

// stopped says why there is no program, whether it did not come or has ended.
/** @param {any} why */
function stopped(why) {
  const loading = place();
  loading.textContent = `Clipscope is not running: ${why?.message ?? why}. Reload the page.`;
  loading.setAttribute("role", "alert");
  loading.hidden = false;
}
const place = () => /** @type {HTMLElement} */ (document.getElementById("loading"));

const details = () => [...document.querySelectorAll("details")];

async function run() {
  const go = new Go(), module = await program;
  // Page and trainer are one program, which has kernels in a worker only.
  const kernels = new Proxy({}, { get: () => () => { throw new Error("the page has no kernels"); } });
  const instance = await WebAssembly.instantiate(module, { ...keep(go.importObject), kernels });
  const unfolded = details().map((d) => d.open);
  const ended = go.run(instance);
  place().hidden = true;
  // The page has been drawn anew; what was unfolded before stays so.
  details().forEach((d, i, now) => { if (now.length === unfolded.length) d.open ||= unfolded[i]; });
  // What is kept for offline use has all been fetched by then, and is not again.
  clipscope.ready.catch(() => {}).then(goappInitServiceWorker);
  await ended;
  throw new Error("its program has ended");
}

document.addEventListener("DOMContentLoaded", () => {
  show();
  run().catch(stopped);
});
