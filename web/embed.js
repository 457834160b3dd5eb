// Talks with the page that shows this one in a frame: docs/embedding.md has the messages.
// It is part of a site alone that names pages which may (clipscope -frame-ancestors), and does
// nothing outside a frame. What is told of runs is made in ui/train/frame.go.
//
// Guarantee: only a page that the site names is heard and answered, each message says for
// whose origin it is, and the person before the page can read there who that is. No message
// has parameters, diagnostics (losses, accuracies, what was clipped, norms), test scores, a
// statement, the ledger, a file's or a column's name, or a row. Of a run on a person's files
// it has the step, of how many, and ε, an upper bound, where the run has one. Once a file was
// chosen, the page around can stop a run and ask how it stands, and nothing else: neither by
// a message nor by the address. What it set before is in place and in sight.
import { fail, hear, say } from "./wire.js";

/** @param {{ hosts: readonly string[], host: string }} frame */
function speak(frame) {
  const { own } = clipscopeEarly;

  const PROTOCOL = 1;
  let host = frame.host;

  /** @param {string} type @param {object} body @param {Id} [id] */
  function post(type, body, id) {
    const message = { ...body, clipscope: PROTOCOL, type, ...(id === undefined ? {} : { id }) };
    parent.postMessage(message, host);
  }

  /** @typedef {string | number | undefined} Id of a message, which its answer has, too */

  /** @param {unknown} id @returns {Id} */
  const named = (id) => typeof id === "string" && id.length <= 64 || Number.isSafeInteger(id) ? /** @type {Id} */ (id) : undefined;

  /** @param {Id} id @param {string} why */
  const refuse = (id, why) => post("refused", { why }, id);

  // --- what the page around says ---

  // ask has the program answer a command: why it is refused, or "".
  /** @type {((what: string, text: string) => string) | undefined} */
  let ask;
  /** @type {{ id: Id } | undefined} */
  let planned; // what asked for the plan that is on its way
  /** @type {Id} */
  let asking;

  // A configuration is bounded before it is written: it has few fields, of which none is
  // deeper than csv.bounds.age.lo, and is no longer than a link is read.
  const DEEP = 4, MANY = 5000, LONG = 1 << 16;

  /** @param {unknown} config */
  function written(config) {
    let parts = 0, length = 0;
    /** @param {unknown} v @param {number} depth */
    const walk = (v, depth) => {
      if (++parts > MANY || typeof v === "string" && (length += v.length) > LONG) throw fail("config is too large.");
      if (v === null || ["string", "number", "boolean", "undefined"].includes(typeof v)) return;
      if (depth === DEEP) throw fail("config is too deep.");
      if (Array.isArray(v)) {
        if (v.length > MANY) throw fail("config is too large.");
        for (const item of v) walk(item, depth + 1);
        return;
      }
      if (typeof v !== "object" || Object.getPrototypeOf(v) !== Object.prototype) throw fail("config has something that is no plain object, list, text, number, true or false.");
      for (const [key, item] of Object.entries(v)) {
        if ((length += key.length) > LONG) throw fail("config is too large.");
        walk(item, depth + 1);
      }
    };
    if (typeof config !== "object" || config === null || Array.isArray(config)) throw fail("config is an object of fields.");
    walk(config, 0);
    return say(config);
  }

  /** @param {Id} id */
  function state(id) {
    asking = id;
    if (ask) ask("state", "");
    else post("state", { phase: "loading", files: own() }, id);
  }

  // Each is given a message's id, and the message.
  /** @type {Map<unknown, (id: Id, m: any) => void>} */
  const commands = new Map([["state", state]]);
  for (const command of ["start", "pause", "resume", "stop"]) commands.set(command, (id) => {
    const why = ask ? ask(command, "") : LOADING;
    if (why) refuse(id, why);
    else state(id);
  });
  commands.set("config", (id, m) => {
    if (!ask) return refuse(id, LOADING);
    const text = written(m.config); // throws before anything is changed
    if (planned) refuse(planned.id, "Another configuration came after it.");
    planned = { id };
    const why = ask("config", text);
    if (!why) return;
    planned = undefined;
    refuse(id, why);
  });
  const LOADING = "The page is still loading: wait for the message ready.";
  const known = [...commands.keys()].join(", ");

  /** @param {any} m */
  function receive(m) {
    if (typeof m !== "object" || m === null || !Object.hasOwn(m, "clipscope")) return; // it is for others
    const id = named(m.id), command = commands.get(m.type);
    if (m.clipscope !== PROTOCOL) return refuse(id, `This page speaks version ${PROTOCOL} of the protocol: send clipscope: ${PROTOCOL}.`);
    if (!command) return refuse(id, `There is no such message; there are ${known}.`);
    if (own() && command !== state && m.type !== "stop") return refuse(id, "A file was chosen here: from now on only the person before the page says what is trained.");
    try {
      command(id, m);
    } catch (e) {
      refuse(id, e.message);
    }
  }

  addEventListener("message", (e) => {
    if (e.source !== parent || !(host ? e.origin === host : frame.hosts.includes(e.origin))) return;
    host = e.origin;
    show();
    receive(e.data);
  });

  // The page around can change this one's address, too, and with it all settings.
  addEventListener("hashchange", (e) => {
    if (!own()) return;
    e.stopImmediatePropagation();
    history.replaceState(history.state, "", e.oldURL);
  }, true);

  // --- what this page says ---

  window.clipscopeEmbed = Object.freeze({
    attach(answer) {
      ask = answer;
      const ready = { clipscope: PROTOCOL, type: "ready", version: clipscope.version, isolated: window.crossOriginIsolated };
      // Where the browser does not tell who is around, one of these is.
      for (const origin of host ? [host] : frame.hosts) parent.postMessage(ready, origin);
    },
    tell(kind, text) {
      if (!host) return;
      let id;
      if (kind === "state") id = asking;
      if (kind === "plan" || kind === "refused") {
        id = planned?.id;
        planned = undefined;
      }
      post(kind, { ...hear(text), ...(kind === "state" ? { files: own() } : {}) }, id);
    },
  });

  // --- who the page around is ---

  const words = document.createElement("aside");
  words.className = "framed";
  words.setAttribute("aria-label", "The page around this one");
  function show() {
    const who = host ? `Shown by ${host}` : "Shown by another page, which has not said which it is";
    words.textContent = own() ?
      `${who}. It may have chosen settings before your file: read them before you start. From now on it can only stop a run, and is told of steps and ε.` :
      `${who}. It can choose the settings here and start runs on built-in data, and is told what these release.`;
  }
  for (const type of ["change", "drop"]) document.addEventListener(type, show, true); // early.js has heard it first
  show();
  document.body.append(words);
}

if (window.clipscopeFrame) speak(window.clipscopeFrame);
