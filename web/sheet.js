// What stands over the page, for charts.js and for what is loaded when it is asked for.

// sheet shows something under a title, over the page, until it is closed.
/** @param {string} title @param {Node[]} content */
export function sheet(title, ...content) {
  const dialog = document.createElement("dialog"), head = document.createElement("h2"), close = button("Close", () => dialog.close());
  dialog.className = "sheet";
  head.textContent = title;
  dialog.setAttribute("aria-label", title);
  dialog.append(head, ...content, close);
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (e) => { if (e.target === dialog) dialog.close(); }); // beside it
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** @param {string} text @param {() => void} pressed */
export function button(text, pressed) {
  const b = document.createElement("button");
  b.type = "button";
  b.textContent = text;
  b.addEventListener("click", pressed);
  return b;
}

// download saves a file.
/** @param {string} name @param {string} type @param {BlobPart[]} content */
export function download(name, type, ...content) {
  const a = document.createElement("a");
  a.href = URL.createObjectURL(new Blob(content, { type }));
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 10000);
}
