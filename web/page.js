// The entry of the page's scripts, which are bundled into one file. All globals that they define are here.
import "./texts.js"; // before any script writes in the page
import { ui } from "./charts.js";
import { clipscope } from "./clipscope.js";
import { lab } from "./lab.js";
import "./load.js";
import { runs } from "./runs.js";
import "./update.js";
import { use } from "./use.js";

// The scripting API, which the page uses too: docs/scripting.md.
window.clipscope = clipscope;

// The functions that the program calls in the page (ui/browser/scripts.go).
window.clipscopePage = Object.freeze({ early: clipscopeEarly, ui, lab, use, runs });
