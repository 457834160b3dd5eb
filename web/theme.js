// The theme that was chosen, on every page before it is drawn; charts.js sets it. A page of the
// program has it in early.js.
"use strict";

try {
  const theme = localStorage.getItem("clipscope-theme");
  if (theme) document.documentElement.dataset.theme = theme;
} catch { /* private mode: none is kept */ }
