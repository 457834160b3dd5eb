// What the page on which a model is used asks of the browser: a canvas to draw on, and
// pictures of kinds that the program does not read. A shape is height and width, or planes, height
// and width; values are bytes, one plane of colour after the other.
import { Store } from "./store.js";
import { fail } from "./wire.js";

/** @param {number[]} shape */
const sized = (shape) => {
  const [width, height, planes = 1] = shape.toReversed();
  return { height, width, planes };
};

/** @param {number} width @param {number} height */
function sheet(width, height) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, height];
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { willReadFrequently: true }));
  context.imageSmoothingQuality = "high";
  return context;
}

// seen are a sheet's values. Grey is as televisions have had it since BT.601.
/** @param {CanvasRenderingContext2D} context @param {number[]} shape */
function seen(context, shape) {
  const { height, width, planes } = sized(shape), n = height * width;
  const pixels = context.getImageData(0, 0, width, height).data, values = new Uint8Array(planes * n);
  for (let i = 0; i < n; i++) {
    const [r, g, b] = pixels.subarray(4 * i, 4 * i + 3);
    if (planes >= 3) [values[i], values[n + i], values[2 * n + i]] = [r, g, b];
    else values[i] = Math.round(0.299 * r + 0.587 * g + 0.114 * b);
  }
  return values;
}

const LARGEST = 64 << 20; // bytes of a picture's file

// asPNG is the file of a picture that the program reads: a PNG or a JPEG itself, and of others, which the
// browser reads, a PNG.
/** @param {File} file */
async function asPNG(file) {
  if (file.size > LARGEST) throw fail(`${file.name} has ${file.size >> 20} MB, more than a picture of this size should. Choose a smaller one.`);
  const head = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  if (head[0] === 0xff && head[1] === 0xd8 || head[0] === 0x89 && head[1] === 0x50) return file;
  const image = await createImageBitmap(file).catch(() => {
    throw fail(`${file.name} is no picture that this browser can read. Choose a PNG, a JPEG or a WebP.`);
  });
  const context = sheet(image.width, image.height);
  context.drawImage(image, 0, 0);
  image.close();
  /** @type {Blob | null} */
  const png = await new Promise((resolve) => { context.canvas.toBlob(resolve, "image/png"); });
  if (!png) throw fail(`${file.name} is larger than this browser can draw. Choose a smaller one.`);
  return new File([png], file.name);
}

// picture brings a picture to what a model sees, as training did.
/** @param {{ picture(file: File, inverted?: boolean, signal?: AbortSignal): Promise<{ values: Uint8Array, inverted: boolean }> }} model @param {File} file @param {boolean} [inverted] @param {AbortSignal} [signal] */
const picture = async (model, file, inverted, signal) => model.picture(await asPNG(file), inverted, signal);

/** @param {HTMLCanvasElement} canvas @param {Uint8Array} values @param {number[]} shape */
function show(canvas, values, shape) {
  const { height, width, planes } = sized(shape), n = height * width;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d")), image = context.createImageData(width, height);
  for (let i = 0; i < n; i++) {
    for (let c = 0; c < 3; c++) image.data[4 * i + c] = values[planes >= 3 ? c * n + i : i];
    image.data[4 * i + 3] = 255;
  }
  context.putImageData(image, 0, 0);
}

// What is drawn is brought to where the digits of MNIST are: in a box of 20 of 28
// pixels, its centre of mass in the middle (LeCun et al. 1998).
const BOX = 20 / 28, MARGIN = 2 / 28;

/** @param {CanvasRenderingContext2D} drawn @param {number[]} shape */
function centred(drawn, shape) {
  const { height, width } = sized(shape), { canvas } = drawn;
  const ink = drawn.getImageData(0, 0, canvas.width, canvas.height).data;
  let [left, top, right, bottom] = [canvas.width, canvas.height, -1, -1], mass = 0, x = 0, y = 0;
  for (let i = 0; i < canvas.width * canvas.height; i++) {
    const v = ink[4 * i];
    if (v === 0) continue;
    const [a, b] = [i % canvas.width, Math.floor(i / canvas.width)];
    [left, top, right, bottom] = [Math.min(left, a), Math.min(top, b), Math.max(right, a), Math.max(bottom, b)];
    [mass, x, y] = [mass + v, x + v * (a + 0.5), y + v * (b + 0.5)];
  }
  if (right < 0) return null;
  const scale = Math.min(BOX * width / (right + 1 - left), BOX * height / (bottom + 1 - top), width / canvas.width * 4);
  const context = sheet(width, height);
  context.fillRect(0, 0, width, height);
  // Halved again and again: of each pixel that is left out at once nothing would be seen.
  let [from, w, h, k] = [canvas, canvas.width, canvas.height, scale];
  while (k < 0.5) {
    const half = sheet(Math.ceil(w / 2), Math.ceil(h / 2));
    half.drawImage(from, 0, 0, w / 2, h / 2);
    [from, w, h, k] = [half.canvas, w / 2, h / 2, 2 * k];
  }
  const gone = scale / k; // of the size, by halving
  // A top-heavy figure may not leave the picture for that.
  /** @type {(middle: number, low: number, high: number, size: number) => number} */
  const put = (middle, low, high, size) => Math.min(Math.max(size / 2 - scale * middle, MARGIN * size - scale * low), (1 - MARGIN) * size - scale * high);
  context.drawImage(from, 0, 0, w, h, put(x / mass, left, right + 1, width), put(y / mass, top, bottom + 1, height), w * scale / gone, h * scale / gone);
  return seen(context, shape);
}

// pad makes a canvas one to draw on with a pointer of any kind, and calls fn with what a
// model sees of it while that is drawn; with null once it is empty.
/** @param {HTMLCanvasElement} canvas @param {number[]} shape @param {(values: Uint8Array | null) => void} fn */
function pad(canvas, shape, fn) {
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { willReadFrequently: true }));
  const over = new AbortController();
  let frame = 0;
  const blank = () => {
    context.fillStyle = "#000";
    context.fillRect(0, 0, canvas.width, canvas.height);
  };
  const tell = () => { frame ||= requestAnimationFrame(() => { frame = 0; fn(centred(context, shape)); }); };
  /** @param {PointerEvent} e */
  const at = (e) => {
    const box = canvas.getBoundingClientRect();
    return { x: (e.clientX - box.left) * canvas.width / box.width, y: (e.clientY - box.top) * canvas.height / box.height };
  };
  /** @type {{ x: number, y: number } | null} */
  let last = null;
  /** @param {PointerEvent} e */
  const stroke = (e) => {
    const to = at(e);
    Object.assign(context, { strokeStyle: "#fff", lineWidth: canvas.width / 12, lineCap: "round", lineJoin: "round" });
    context.beginPath();
    context.moveTo(last?.x ?? to.x, last?.y ?? to.y);
    context.lineTo(to.x, to.y);
    context.stroke();
    last = to;
    tell();
  };
  const { signal } = over;
  canvas.addEventListener("pointerdown", (e) => {
    if (e.button !== 0) return;
    e.preventDefault();
    canvas.setPointerCapture(e.pointerId);
    stroke(e);
  }, { signal });
  canvas.addEventListener("pointermove", (e) => {
    if (last) for (const part of e.getCoalescedEvents?.() ?? [e]) stroke(part);
  }, { signal });
  for (const type of /** @type {const} */ (["pointerup", "pointercancel"])) canvas.addEventListener(type, () => { last = null; }, { signal });
  blank();
  return {
    clear() {
      blank();
      tell();
    },
    release() {
      over.abort();
      cancelAnimationFrame(frame);
    },
  };
}

// The model that is open stays open when the page is loaded again: its files are in this
// browser's storage until it is closed, or another is opened.
const store = new Store("clipscope-use", "The model that is open", {}, { models: {} });
const OPEN = "open"; // its key

const models = {
  /** @param {File[]} files the model's, and those of what makes its features */
  keep: (files) => store.transact("readwrite", (models) => { models.put(files, OPEN); }),
  // kept are these files, none where none are kept. Earlier versions kept one by itself.
  kept: async () => [await store.transact("readonly", (models) => models.get(OPEN)) ?? []].flat(),
  forget: () => store.transact("readwrite", (models) => { models.delete(OPEN); }),
};

export const use = Object.freeze({ pad, picture, show, ...models });
