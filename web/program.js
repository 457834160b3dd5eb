// Compiles the program, app.wasm, which is the page and, in workers, the trainer. #loading, at
// the page's top, says how far that is.
import { base } from "./site.js";

// needed are what nothing can be computed without, and what for.
/** @type {[string, unknown, string][]} */
const needed = [
  ["WebAssembly", self.WebAssembly, "which the program is written in"],
  ["Worker", self.Worker, "in which runs compute"],
  ["crypto.getRandomValues", self.crypto?.getRandomValues, "which all noise is drawn from"],
];

/** @param {string} url @param {Promise<Response>} fetched */
async function compile(url, fetched) {
  for (const [name, there, why] of needed) if (!there) throw new Error(`this browser gives the page no ${name}, ${why}. Open the page in another browser, or allow it in the settings of this one`);
  const [response, kept] = await Promise.all([fetched, isKept(url)]);
  if (!response.ok) throw new Error(`the server answered ${response.status} for its program`);
  const followed = kept ? response : follow(response);
  if (WebAssembly.compileStreaming && /^application\/wasm/.test(response.headers.get("Content-Type") ?? "")) return WebAssembly.compileStreaming(followed);
  return WebAssembly.compile(await followed.arrayBuffer());
}

// isKept tells whether the service worker has what is at an address, which then comes at once.
/** @param {string} url */
const isKept = async (url) => Boolean(navigator.serviceWorker?.controller && await caches.match(url).catch(() => undefined));

/** @param {number} bytes */
const megabytes = (bytes) => (bytes / 1e6).toFixed(1);

// What has arrived is counted as it is unpacked, and shown as a share of what the
// network carries, where that is known.
let loaded = 0, carried = 0;
export function show() {
  const loading = document.getElementById("loading");
  if (!loaded || !loading) return; // not drawn yet
  const whole = Number(loading.dataset.bytes), all = carried || whole;
  const [progress, , size] = /** @type {[HTMLProgressElement, Element, Element]} */ (/** @type {unknown} */ (loading.children));
  progress.value = loaded / whole;
  size.textContent = `${megabytes(loaded / whole * all)} of ${megabytes(all)} MB`;
}

// follow counts what passes, for an eighth of all that a visit takes. To count a clone of it
// would take a fourteenth more.
/** @param {Response} response */
function follow(response) {
  if (!("TransformStream" in self && "ReadableStream" in self)) return response; // then it is not counted
  carried = Number(response.headers.get("Content-Length"));
  const counting = new TransformStream({
    transform(/** @type {Uint8Array} */ part, to) {
      loaded += part.byteLength;
      show();
      to.enqueue(part);
    },
  });
  return new Response(/** @type {ReadableStream} */ (response.body).pipeThrough(counting), response);
}

// program is the compiled program, once the page is known to stay.
export const program = compile(new URL("app.wasm", base).href, clipscopeEarly.program);
