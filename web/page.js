// The page's scripts, in one file. All that they put in sight of others stands here.
import "./texts.js"; // before anything is written in the page
import { ui } from "./charts.js";
import { clipscope } from "./clipscope.js";
import { lab } from "./lab.js";
import "./load.js";
import { runs } from "./runs.js";
import "./update.js";
import { use } from "./use.js";

// The scripting API, which the page uses too: docs/scripting.md.
window.clipscope = clipscope;

// What the program calls, in the page (ui/browser/scripts.go).
window.clipscopePage = Object.freeze({ early: clipscopeEarly, ui, lab, use, runs });
