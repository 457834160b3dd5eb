// predict.py as the tests run it: by the system's Python, where that has numpy.
import { execFileSync } from "node:child_process";
import path from "node:path";
import { root } from "./browser.mjs";

export const PYTHON = "/usr/bin/python3";
export const withoutNumpy = `predict.py is left out: ${PYTHON} has no numpy (python3-numpy)`;

export const numpy = (() => {
  try {
    execFileSync(PYTHON, ["-c", "import numpy"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

// python runs a program beside predict.py, or another in dir, and resolves with what it
// writes as JSON; it is given input as JSON.
/** @param {string} program @param {unknown} input */
export function python(program, input, dir = path.join(root, "web")) {
  const out = execFileSync(PYTHON, ["-B", "-c", program], { cwd: dir, encoding: "utf8", input: JSON.stringify(input), maxBuffer: 1 << 26 });
  return JSON.parse(out);
}
