// The JSON that the page's scripts exchange with the trainer. Numbers that JSON cannot write are objects in
// it, as core/run/number.go writes and reads them, at any place. Texts are never changed.
/** @import { ClipscopeError } from "./types.d.ts" */

const KEY = "$numberDouble";
const numbers = new Map([["NaN", NaN], ["Infinity", Infinity], ["-Infinity", -Infinity]]);

// say returns v as text for the trainer, or for a file.
/** @param {unknown} v @param {number} [indent] */
export function say(v, indent) {
  return JSON.stringify(v, (_, x) => typeof x === "number" && !Number.isFinite(x) ? { [KEY]: String(x) } : x, indent);
}

// hear returns the value of a text from the trainer.
/** @param {string} text */
export function hear(text) {
  return revive(JSON.parse(text));
}

// revive turns the objects that stand for numbers into numbers, in place.
/** @param {any} v */
function revive(v) {
  if (v === null || typeof v !== "object") return v;
  if (Array.isArray(v)) {
    for (let i = 0; i < v.length; i++) if (typeof v[i] === "object") v[i] = revive(v[i]);
    return v;
  }
  const keys = Object.keys(v);
  if (keys.length === 1 && keys[0] === KEY && numbers.has(v[KEY])) return numbers.get(v[KEY]);
  for (const key of keys) if (typeof v[key] === "object") v[key] = revive(v[key]);
  return v;
}

// fail returns the Error that the API rejects with. detail holds in fields what the message says in words.
/** @param {string} message @param {object} [detail] */
export function fail(message, detail) {
  const e = /** @type {ClipscopeError} */ (new Error(message));
  e.name = "ClipscopeError";
  e.detail = detail ?? {};
  return e;
}
