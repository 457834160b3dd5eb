// Draws a text, the page's address, as a QR code: uqr's encoding, painted here. It is
// loaded when the first one is asked for.
import { encode } from "uqr";

// The longest text that a code of the least correction holds (ISO 18004, version 40, in
// bytes): longer ones could not be told by any camera.
const LONGEST = 2953;
const MODULE = 4; // pixels of a square; the stylesheet makes the code as large as it is shown

/** @param {HTMLCanvasElement} canvas @param {string} text */
function draw(canvas, text) {
  if (new TextEncoder().encode(text).length > LONGEST) throw new Error("This link is too long for a QR code. Leave out the note, or fewer lanes.");
  const { data, size } = encode(text, { ecc: "L", border: 4 }); // the border that readers ask for
  canvas.width = canvas.height = MODULE * size;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  // Black on white whatever the theme is: not all cameras read the other.
  context.fillStyle = "#fff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = "#000";
  data.forEach((row, y) => row.forEach((dark, x) => { if (dark) context.fillRect(MODULE * x, MODULE * y, MODULE, MODULE); }));
}

// show has the code over the page, as large as a room needs it, with what it says as text.
/** @param {string} address */
export function show(address) {
  const { sheet, button } = clipscopeUI;
  const canvas = document.createElement("canvas"), link = document.createElement("p"), said = document.createElement("p");
  canvas.className = "qr-code";
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", "The address of this page as a QR code");
  link.className = "qr-link";
  link.textContent = address;
  said.setAttribute("role", "status");
  const copy = button("Copy link", async () => {
    try {
      await navigator.clipboard.writeText(address);
      said.textContent = "The link is copied.";
    } catch {
      said.textContent = "This browser does not let the page copy. Mark the link above, and copy it.";
    }
  });
  try {
    draw(canvas, address);
  } catch (e) {
    canvas.hidden = true;
    said.textContent = e.message;
  }
  sheet("This page, as it is now", canvas, link, copy, said).classList.add("qr-sheet");
}
