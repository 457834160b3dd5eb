// Files chosen or dropped before the program runs: its handlers come with it, and
// the page is drawn long before. They are kept here until it takes them.
(() => {
  "use strict";
  let files = [];
  const listeners = new AbortController();
  const listen = (type, heard) => document.addEventListener(type, heard, { capture: true, signal: listeners.signal });
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
