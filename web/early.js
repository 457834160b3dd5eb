// What cannot wait for the program, which comes long after the page is drawn.
(() => {
  "use strict";

  // The theme that was chosen.
  try {
    const theme = localStorage.getItem("clipscope-theme");
    if (theme) document.documentElement.dataset.theme = theme;
  } catch { /* private mode: none is kept */ }

  // Files that are chosen or dropped are kept until the program takes them.
  /** @type {File[]} */
  let files = [];
  const listeners = new AbortController();
  /** @param {string} type @param {(e: any) => void} heard */
  const listen = (type, heard) => document.addEventListener(type, heard, { capture: true, signal: listeners.signal });
  /** @param {FileList | null | undefined} list */
  const keep = (list) => { if (list?.length) files = Array.from(list); };
  listen("change", (e) => { if (e.target.type === "file") keep(e.target.files); });
  listen("dragover", (e) => e.preventDefault()); // or a drop would leave the page
  listen("drop", (e) => {
    e.preventDefault();
    keep(e.dataTransfer.files);
  });

  // A link that was cut short, "#%", is none that the program's router can read, and
  // would end it. A percent sign that begins no escape is made to mean itself, now
  // and whenever the address changes, before the program hears of it.
  /** @type {(s: string) => string} */
  const escaped = (s) => s.replace(/%(?![0-9a-f]{2})/gi, "%25");
  // Hosts show a page at the address of its folder or file; the router knows one.
  const root = new URL("..", /** @type {HTMLScriptElement} */ (document.currentScript).src).pathname;
  const mend = () => {
    const { pathname, search, hash } = location, page = pathname.replace(/(\/index\.html|\/)$/, "");
    const whole = pathname + search + hash, mended = escaped((page.length < root.length ? root : page) + search + hash);
    if (mended !== whole) history.replaceState(history.state, "", mended);
  };
  mend();
  for (const type of ["popstate", "hashchange"]) window.addEventListener(type, mend, { capture: true });

  // take hands the files over, once, and listens no more.
  window.clipscopeEarly = { take() {
    listeners.abort();
    return files.splice(0);
  } };
})();
