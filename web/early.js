// Files chosen or dropped before the program runs: its handlers come with it, and
// the page is drawn long before. They are kept here until it takes them.
(() => {
  "use strict";
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

  // take hands the files over, once, and listens no more.
  window.clipscopeEarly = { take() {
    listeners.abort();
    return files.splice(0);
  } };
})();
