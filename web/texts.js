// Keeps the texts that the program writes in the page. A browser's translator takes texts
// out and puts its own in their place: Chromium's wraps each in <font>, Firefox's joins the
// texts of a sentence and drops those left over, Safari's puts in new ones, and extensions do
// one or the other. The program knows its own texts alone and would go on writing to those,
// out of the page, and would end where it removes one that is gone.
//
// Guarantee: what the program writes is what the page shows, whatever else has changed its
// texts. A text it writes is put back where it belongs, in the words of the program, together
// with the sentence around it; the translator then sees a change and translates that anew.

// children holds the children of every element below which the program has put a text, in
// their order; parents leads back up, and words has what each text was last told.
/** @type {WeakMap<Node, Node[]>} */
const children = new WeakMap();
/** @type {WeakMap<Node, Node>} */
const parents = new WeakMap();
/** @type {WeakMap<Node, string>} */
const words = new WeakMap();
/** @type {WeakSet<Node>} */
const sentences = new WeakSet(); // elements with a text of their own

let ours = false; // the program is calling, and no other script

const node = Node.prototype;
const append = node.appendChild, replace = node.replaceChild, remove = node.removeChild;
const value = /** @type {Required<PropertyDescriptor>} */ (Object.getOwnPropertyDescriptor(node, "nodeValue"));
const createText = Document.prototype.createTextNode;
const takeAway = Element.prototype.removeAttribute;

// carries reports whether a node is a text of the program or has one below it.
/** @param {Node} n */
const carries = (n) => words.has(n) || children.has(n);

// intact reports whether an element has the children that the program gave it.
/** @param {Node} parent */
function intact(parent) {
  let at = parent.firstChild;
  for (const child of children.get(parent) ?? []) {
    if (at !== child) return false;
    at = at.nextSibling;
  }
  return at === null;
}

// mend gives an element its children back, and their words. It moves none that stands in
// its order, as an element that is moved loses the focus and its scrolling.
/** @param {Node} parent */
function mend(parent) {
  const own = children.get(parent);
  if (!own) return;
  if (!intact(parent)) {
    const kept = new Set(own);
    // Where no words stand, an element of somebody else's is left: an extension's button.
    for (const n of Array.from(parent.childNodes)) {
      if (!kept.has(n) && (sentences.has(parent) || n instanceof Text || n.nodeName === "FONT")) remove.call(parent, n);
    }
    let at = parent.firstChild;
    for (const n of own) {
      if (at === n) at = n.nextSibling;
      else parent.insertBefore(n, at);
    }
  }
  for (const n of own) {
    const said = words.get(n);
    if (said !== undefined && value.get.call(n) !== said) value.set.call(n, said);
  }
}

// around is the outermost element that has words beside the node: its sentence.
/** @param {Node} n @returns {Node | undefined} */
function around(n) {
  let top = parents.get(n);
  for (let p = top; p; p = parents.get(p)) {
    if (sentences.has(p)) top = p;
  }
  return top;
}

// mendAll mends an element and all below it.
/** @param {Node} top */
function mendAll(top) {
  mend(top);
  for (const n of children.get(top) ?? []) if (children.has(n)) mendAll(n);
}

// whole reports whether a sentence has all of its texts and elements, in their order.
/** @param {Node} top @returns {boolean} */
const whole = (top) => intact(top) && (children.get(top) ?? []).every((n) => !children.has(n) || whole(n));

// restore mends a sentence, and the way from it up to the page.
/** @param {Node} top */
function restore(top) {
  mendAll(top);
  for (let p = parents.get(top); p; p = parents.get(p)) mend(p);
}

// adopt notes that an element has another child, in the place of old or after all others.
// All above the first text of an element are noted with it.
/** @param {Node} parent @param {Node} child @param {Node} [old] */
function adopt(parent, child, old) {
  const own = children.get(parent);
  if (own) {
    const at = old ? own.indexOf(old) : -1;
    if (at >= 0) own[at] = child;
    else own.push(child);
    parents.set(child, parent);
  } else if (carries(child)) {
    // To the body others add as well.
    for (let p = /** @type {Node | null} */ (parent); p && p !== document.body && !children.has(p); p = p.parentNode) {
      const all = Array.from(p.childNodes);
      children.set(p, all);
      for (const n of all) parents.set(n, p);
    }
  }
  if (words.has(child)) sentences.add(parent);
}

// The calls with which go-app makes and changes a page. Of anybody else's they are the
// browser's.
Document.prototype.createTextNode = function(text) {
  const made = createText.call(this, text);
  if (ours) words.set(made, String(text));
  return made;
};
Object.defineProperty(node, "nodeValue", {
  ...value,
  /** @this {Node} @param {string} text */
  set(text) {
    const top = ours && words.has(this) && around(this);
    if (!top) return value.set.call(this, text);
    const untouched = value.get.call(this) === words.get(this) && this.isConnected && whole(top);
    words.set(this, String(text));
    if (untouched) value.set.call(this, text);
    else restore(top);
  },
});
/** @template {Node} T @this {Node} @param {T} child @returns {T} */
node.appendChild = function(child) {
  if (!ours) return /** @type {T} */ (append.call(this, child));
  if (children.get(this)?.at(-1) !== (this.lastChild ?? undefined)) mend(this);
  append.call(this, child);
  adopt(this, child);
  return child;
};
/** @template {Node} T @this {Node} @param {Node} child @param {T} old @returns {T} */
node.replaceChild = function(child, old) {
  if (!ours) return /** @type {T} */ (replace.call(this, child, old));
  if (sentences.has(this) || old.parentNode !== this) mend(this);
  replace.call(this, child, old);
  adopt(this, child, old);
  return old;
};
/** @template {Node} T @this {Node} @param {T} child @returns {T} */
node.removeChild = function(child) {
  const own = ours && children.get(this);
  if (!own) return /** @type {T} */ (remove.call(this, child));
  if (sentences.has(this) || child.parentNode !== this) mend(this);
  remove.call(this, child);
  children.set(this, own.filter((n) => n !== child));
  return child;
};

// A value that becomes empty is one that go-app takes away, and what an input shows would stay.
Element.prototype.removeAttribute = function(name) {
  takeAway.call(this, name);
  if (ours && name === "value" && this instanceof HTMLInputElement) this.value = "";
};

// keep has the calls of a program told from those of others: imports are what it is given.
/** @param {Record<string, any>} imports @returns {Record<string, any>} */
export function keep(imports) {
  const gojs = { ...imports.gojs };
  for (const name of ["syscall/js.valueCall", "syscall/js.valueSet"]) {
    const call = gojs[name];
    gojs[name] = (/** @type {number} */ sp) => {
      const before = ours; // a call of a script's may lead back to the program
      ours = true;
      try { call(sp); } finally { ours = before; }
    };
  }
  return { ...imports, gojs };
}
