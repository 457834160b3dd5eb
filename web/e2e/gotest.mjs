// Go's tests of what runs in browsers alone.
import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { root } from "./browser.mjs";

const exec = promisify(execFile);

// goTest runs a package's tests in a browser's worker, and returns what they print. No test is over because
// the machine is busy: go test's own limit is ten minutes of the clock.
/** @param {string} browser @param {string} pkg @param {string} pattern of those to run @param {string[]} more of go test's flags */
export async function goTest(browser, pkg, pattern, ...more) {
  const { stdout } = await exec("go",
    ["test", "-count=1", "-vet=off", "-v", "-timeout=90m", "-run", pattern, ...more, "-exec", `node ${path.join(root, "web/go_browser_exec.mjs")}`, pkg],
    { cwd: root, maxBuffer: 1 << 26, env: { ...process.env, GOOS: "js", GOARCH: "wasm", CLIPSCOPE_BROWSER: browser.toLowerCase() } },
  ).catch((error) => { throw new Error(error.stdout + error.stderr); });
  return stdout;
}
