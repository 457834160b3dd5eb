// What cannot wait for the program, which comes long after the page is drawn.
(() => {
  "use strict";

  // What a browser may lack, or not give, and is made up for: sizes are then those of the window.
  window.reportError ??= (e) => console.error(e);
  window.ResizeObserver ??= /** @type {any} */ (class {
    /** @param {() => void} changed */
    constructor(changed) { this.changed = () => changed(); }
    observe() {
      addEventListener("resize", this.changed);
      requestAnimationFrame(this.changed);
    }
    disconnect() { removeEventListener("resize", this.changed); }
  });

  // Storage for what the program keeps of itself is in memory where the browser gives none, or
  // throws at whoever asks, as with cookies blocked: the program would end. It is gone when the
  // page is loaded again.
  const brief = new Set();
  for (const name of /** @type {const} */ (["localStorage", "sessionStorage"])) {
    try {
      if (window[name]) continue;
    } catch { /* none either */ }
    /** @type {Map<string, string>} */
    const kept = new Map();
    brief.add(name);
    const storage = Object.freeze({
      get length() { return kept.size; },
      key: (/** @type {number} */ i) => [...kept.keys()][i] ?? null,
      getItem: (/** @type {string} */ key) => kept.get(key) ?? null,
      setItem: (/** @type {string} */ key, /** @type {string} */ value) => { kept.set(key, value); },
      removeItem: (/** @type {string} */ key) => { kept.delete(key); },
      clear: () => kept.clear(),
    });
    try {
      Object.defineProperty(window, name, { value: storage });
    } catch { /* somebody holds it as it is */ }
  }

  // Big type, for a room: charts.js has the rest.
  if (new URLSearchParams(location.search).has("present")) document.documentElement.dataset.present = "";

  // Within another page: what embed.js has no time for.
  const framed = window.clipscopeFrame !== undefined;
  if (framed && new URLSearchParams(location.search).has("embed")) document.documentElement.dataset.embed = "";

  // Whether a file was ever chosen or dropped here: from then on no other page has a say.
  let own = false;
  document.addEventListener("change", (e) => { own ||= Boolean(/** @type {HTMLInputElement} */ (e.target).files?.length); }, true);
  document.addEventListener("drop", (e) => { own ||= Boolean(e.dataTransfer?.types.includes("Files")); }, true);

  // A control may be drawn anew while its dialog is open, and the browser knows the old
  // one alone: what is chosen there is chosen in the one that stands in its place.
  /** @param {Event} e */
  const follow = (e) => {
    const old = /** @type {HTMLInputElement} */ (e.currentTarget), now = document.getElementById(old.id);
    if (old.isConnected || !(now instanceof HTMLInputElement)) return;
    now.files = old.files;
    now.dispatchEvent(new Event("change", { bubbles: true }));
  };
  const asked = new Set(); // or nothing would hold what has a dialog and is no longer in the page
  document.addEventListener("click", (e) => {
    const input = /** @type {HTMLInputElement} */ (e.target);
    if (input.type !== "file") return;
    asked.clear();
    asked.add(input);
    input.addEventListener("change", follow);
  }, true);

  const MOST = 300_000; // files of a folder that are taken

  // Files that are chosen or dropped are kept until the program takes them.
  /** @type {File[]} */
  let files = [];
  const listeners = new AbortController();
  /** @param {string} type @param {(e: any) => void} heard */
  const listen = (type, heard) => document.addEventListener(type, heard, { capture: true, signal: listeners.signal });
  /** @param {ArrayLike<File> | null | undefined} list */
  const keep = (list) => { if (list?.length) files = Array.from(list); };
  listen("change", (e) => { if (e.target.type === "file") keep(e.target.files); });
  listen("dragover", (e) => e.preventDefault()); // or a drop would leave the page
  listen("drop", (e) => {
    e.preventDefault();
    dropped(e.dataTransfer).then(keep);
  });

  // Where files stand below a folder that was chosen or dropped: those of a drop do not
  // say, and none does in a worker.
  /** @type {WeakMap<File, string>} */
  const paths = new WeakMap();
  /** @param {File} file */
  const pathOf = (file) => paths.get(file) ?? (file.webkitRelativePath || file.name);

  // dropped resolves with the files of a drop, and all in its folders.
  /** @param {DataTransfer} transfer @returns {Promise<File[]>} */
  async function dropped(transfer) {
    const found = Array.from(transfer.files);
    const entries = Array.from(transfer.items ?? []).map((item) => item.kind === "file" ? item.webkitGetAsEntry?.() : null).filter((e) => e !== null && e !== undefined);
    if (!entries.some((e) => e.isDirectory)) return found;
    found.length = 0;
    // Hidden folders below the one that was dropped hold copies that programs keep: the
    // program would leave them out (core/data/source/hidden.go), and need not see them.
    /** @param {FileSystemEntry} entry */
    const walk = async (entry, below = false) => {
      if (found.length >= MOST || below && entry.isDirectory && /^\.|^@eaDir$/.test(entry.name)) return;
      if (entry.isFile) {
        /** @type {File} */
        const file = await new Promise((resolve, reject) => { /** @type {FileSystemFileEntry} */ (entry).file(resolve, reject); });
        paths.set(file, entry.fullPath.replace(/^\//, ""));
        found.push(file);
        return;
      }
      const reader = /** @type {FileSystemDirectoryEntry} */ (entry).createReader();
      for (let some; ;) { // a folder is listed in parts
        some = await new Promise((resolve, reject) => { reader.readEntries(resolve, reject); });
        if (!some.length) return;
        for (const e of some) await walk(e, true);
      }
    };
    for (const e of entries) await walk(e).catch(() => {}); // what may not be read is not there
    return found;
  }

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

  // Threads need a page that is isolated from other sites. Where the host sends no
  // headers for that, the service worker adds them, but not to a page that was there
  // before it. So there it comes first, and the page is loaded again, once, before its
  // program is, unless somebody has begun to use it. What comes of that is in alone,
  // which a run with one thread says.
  const LATER = "the page was there before its service worker, which isolates it from other sites when it is loaded again";
  const apart = "the page is not isolated from other sites: the host does not send the headers for that, and ";
  const worker = new URL("app-worker.js", location.origin + root).href;
  let alone = "";

  // What shows that somebody has begun. The browser's own word for it counts the
  // questions of a program that drives it, and scrolling loses nothing.
  let use = () => {};
  const used = new Promise((resolve) => { use = () => resolve(undefined); });
  for (const type of ["pointerdown", "keydown", "click", "input", "change", "dragenter"]) {
    document.addEventListener(type, use, { capture: true, once: true, passive: true });
  }

  // first says, once, that the page was not loaded again yet.
  function first() {
    try {
      if (!brief.has("sessionStorage")) {
        const been = sessionStorage.getItem("clipscope-reloaded");
        sessionStorage.setItem("clipscope-reloaded", "yes");
        return !been;
      }
    } catch { /* it is full */ }
    // Where nothing may be stored the browser knows as well.
    return performance.getEntriesByType("navigation").some((/** @type {any} */ n) => n.type === "navigate");
  }

  /** @param {ServiceWorkerRegistration} registration */
  const active = ({ installing, waiting, active }) => new Promise((resolve, reject) => {
    if (active) return resolve(undefined);
    const next = /** @type {ServiceWorker} */ (installing ?? waiting);
    next.addEventListener("statechange", () => {
      if (next.state === "activating" || next.state === "activated") resolve(undefined);
      if (next.state === "redundant") reject();
    });
  });

  const complete = () => new Promise((resolve) => {
    if (document.readyState === "complete") resolve(undefined);
    else window.addEventListener("load", resolve, { once: true });
  });

  // isolate resolves when the program may be loaded, as the page stays.
  async function isolate() {
    if (window.crossOriginIsolated !== false) return;
    if (framed) { // to load it again would not help: the page around it decides
      alone = "this page is shown within another one, which is not isolated from other sites or does not pass that on";
      return;
    }
    const workers = navigator.serviceWorker;
    if (workers?.controller) {
      alone = apart + "those that the service worker adds have not done it";
      return;
    }
    alone = LATER;
    let stays = false, leaving = false;
    // A worker that does not come, and does not fail either, keeps nobody waiting, nor
    // does a page that comes late: who begins before it is there keeps this one, as it
    // could take away a run that is charged already.
    const late = new Promise((resolve) => { setTimeout(resolve, 10000); });
    const stay = Promise.race([used, late]).then(() => {
      stays = true;
      if (!leaving) return undefined;
      // Where the other page has begun to arrive nothing stops it: then this one is gone
      // before its program is there.
      window.stop();
      return new Promise((resolve) => { setTimeout(resolve, 2000); });
    });
    const again = async () => {
      try {
        await active(await workers.register(worker));
      } catch {
        alone = apart + "the browser has no service worker here that could add them";
        return;
      }
      await complete(); // or to stop would leave this page half loaded
      if (stays || !first()) return;
      leaving = true;
      location.reload();
      await stay;
    };
    await Promise.race([stay, again()]);
  }

  // In a page that is loaded ahead of time nothing of this is possible yet.
  const shown = /** @type {any} */ (document).prerendering && window.crossOriginIsolated === false ?
    new Promise((resolve) => { document.addEventListener("prerenderingchange", resolve, { once: true }); }) : undefined;

  // The program is asked for before the scripts that compile it are there, which hear of a fault, too.
  const stays = shown ? shown.then(isolate) : isolate(), program = stays.then(() => fetch(location.origin + root + "web/app.wasm"));
  program.catch(() => {});

  window.clipscopeEarly = {
    // take hands the files over, once, and listens no more.
    take() {
      listeners.abort();
      return files.splice(0);
    },
    dropped,
    own: () => own,
    pathOf,
    stays,
    program,
    use,
    alone: () => alone,
  };
})();
