// The theme that was chosen, on every page before it is drawn; charts.js sets it.
"use strict";

try {
  const theme = localStorage.getItem("clipscope-theme");
  if (theme) document.documentElement.dataset.theme = theme;
} catch { /* private mode: none is kept */ }
