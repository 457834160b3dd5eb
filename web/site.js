// Where the site's files are.

// base is the folder of the page's scripts.
export const base = new URL(".", /** @type {HTMLScriptElement} */ (document.currentScript).src);
