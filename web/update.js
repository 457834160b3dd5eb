// Offers a newer version of the site, which the browser has fetched and keeps beside the open one
// (web/app-worker.tmpl.js). The page changes to it only when a person asks for it.
import { clipscope, unfinished } from "./clipscope.js";

/** @type {ServiceWorkerRegistration} */
let registration;
/** @type {HTMLElement | undefined} */
let bar;
let warned = false;

/** @param {string} text */
function say(text) {
  if (!bar) {
    bar = document.createElement("aside");
    bar.className = "update";
    bar.setAttribute("aria-label", "A newer version");
    const words = document.createElement("span"), button = document.createElement("button");
    words.setAttribute("role", "status");
    button.type = "button";
    button.textContent = "Reload";
    button.addEventListener("click", () => { take().catch((e) => say(`The newer version did not start: ${e.message}. Close all of Clipscope's tabs, and open it again.`)); });
    bar.append(words, button);
    document.body.append(bar);
  }
  /** @type {HTMLElement} */ (bar.firstChild).textContent = text;
}

const offer = () => say("A newer version of Clipscope is here.");

// take loads the newer version, unless that would end a run or disturb another tab.
async function take() {
  const held = () => {
    if (unfinished.size) say("A run is under way. A reload would end it, so the newer version waits.");
    return unfinished.size > 0;
  };
  if (held()) return;
  const next = registration.waiting;
  if (!next) return location.reload(); // the newer version serves the page already
  if (!warned && (await clipscope.interrupted()).length) {
    warned = true;
    return say("Only this version can go on with an interrupted run. Let the run go on first, or reload: what it has spent stays in the ledger.");
  }
  if (held()) return;
  const begun = new Promise((resolve) => next.addEventListener("statechange", () => { if (next.state === "activated") resolve(undefined); }));
  const { port1, port2 } = new MessageChannel();
  const answered = new Promise((resolve) => { port1.onmessage = (e) => resolve(e.data.others); });
  next.postMessage({ type: "update" }, [port2]);
  if (await answered > 0) return say("Clipscope is also open in another tab, which the newer version would disturb. Close that tab, then reload.");
  await begun;
  if (!held()) location.reload(); // a run may have begun meanwhile
}

// watch offers every version that comes after the one that serves this page.
/** @param {ServiceWorkerContainer} workers */
function watch(workers) {
  // The first worker is nothing to offer: it serves the version that is open.
  workers.ready.then((r) => {
    registration = r;
    const heed = () => {
      const next = r.installing;
      next?.addEventListener("statechange", () => { if (next.state === "installed" && r.active) offer(); });
    };
    r.addEventListener("updatefound", heed);
    heed();
    if (r.waiting) offer();
  });
  // Another worker took over, and nobody asked for it in this tab.
  let served = workers.controller;
  workers.addEventListener("controllerchange", () => {
    if (served) offer();
    served = workers.controller;
  });
}

if (navigator.serviceWorker) watch(navigator.serviceWorker);
