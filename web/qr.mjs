// Draws a text, the page's address, as a QR code: uqr's encoding, painted here. It is
// loaded when the first one is asked for.
import { encode } from "uqr";
import { button, sheet } from "./sheet.js";

// The longest text that a code of the least correction holds (ISO 18004, version 40, in
// bytes): longer ones could not be told by any camera.
const LONGEST = 2953;
const MODULE = 4; // pixels of a square; the stylesheet makes the code as large as it is shown

/** @param {HTMLCanvasElement} canvas @param {string} text */
function draw(canvas, text) {
  if (new TextEncoder().encode(text).length > LONGEST) throw new Error("This is too long for a QR code. In a link, leave out the note, or have fewer lanes.");
  const { data, size } = encode(text, { ecc: "L", border: 4 }); // the border that readers ask for
  canvas.width = canvas.height = MODULE * size;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  // Black on white whatever the theme is: not all cameras read the other.
  context.fillStyle = "#fff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = "#000";
  data.forEach((row, y) => row.forEach((dark, x) => { if (dark) context.fillRect(MODULE * x, MODULE * y, MODULE, MODULE); }));
}

// keeper is where the host keeps short links, as its pages say of themselves: a page does
// not ask. Empty where it keeps none.
const keeper = () => /** @type {HTMLMetaElement | null} */ (document.querySelector('meta[name="clipscope-links"]'))?.content ?? "";

// kept is what of an address the host would keep: a page and its settings, if it has some. The secret of a room is
// for nobody but its parties.
/** @param {string} address */
function kept(address) {
  const { pathname, hash } = new URL(address), page = pathname.replace(/\/?$/, "/");
  return hash.includes("=") && !hash.startsWith("#room=") && ["/", "/lab/"].includes(page) ? page + hash : "";
}

// shorten has the host keep a link, and resolves with the short one.
/** @param {string} link */
async function shorten(link) {
  const response = await fetch(keeper(), { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ link }) });
  const answer = await response.text();
  if (!response.ok) throw new Error(answer.trim() || `the host answered ${response.status}`);
  return new URL(JSON.parse(answer).path, location.origin).href;
}

// show has the code of an address, or of another text, over the page, as large as a room needs it, with what it says as text.
/** @param {string} address @param {string} [title] of another text */
export function show(address, title) {
  const canvas = document.createElement("canvas"), link = document.createElement("p"), said = document.createElement("p");
  canvas.className = "qr-code";
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `${title ?? "The address of this page"} as a QR code`);
  link.className = "qr-link";
  said.setAttribute("role", "status");
  const of = (/** @type {string} */ shown) => {
    link.textContent = shown;
    try {
      draw(canvas, shown);
      canvas.hidden = false;
    } catch (e) {
      canvas.hidden = true;
      said.textContent = e.message;
    }
  };
  const copy = button(title ? "Copy" : "Copy link", async () => {
    try {
      await navigator.clipboard.writeText(link.textContent ?? "");
      said.textContent = "It is copied.";
    } catch {
      said.textContent = "This browser does not let the page copy. Mark it above, and copy it.";
    }
  });
  of(address);
  const content = [canvas, link, copy];
  const sent = title ? "" : kept(address);
  if (keeper() && sent) {
    const asked = document.createElement("p");
    asked.className = "help";
    asked.textContent = `This site can keep the settings under a short name. ${sent} is sent to it then, and nothing else. ` +
      "It is kept for a year after it was last followed, and whoever has the name can read it.";
    const short = button("Send, and get a short link", async () => {
      short.disabled = true;
      said.textContent = "Asking for a short link …";
      try {
        of(await shorten(sent));
        said.textContent = "The short link is above.";
        short.remove();
        asked.remove();
      } catch (e) {
        short.disabled = false;
        said.textContent = `There is no short link: ${e.message} The long one works as always.`;
      }
    });
    short.className = "shorten";
    content.push(asked, short);
  }
  sheet(title ?? "This page, as it is now", ...content, said).classList.add("qr-sheet");
}
