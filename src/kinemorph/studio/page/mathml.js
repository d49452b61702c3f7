// Formulas as MathML elements, built from lists [tag, attributes, children] that the server sends. Only tags and
// attributes of these two lists become elements, so that whatever a model is called stays text.

const MATHML = "http://www.w3.org/1998/Math/MathML";
const MATH_TAGS = new Set(["math", "mfrac", "mi", "mn", "mo", "mover", "mrow", "mspace", "msqrt", "msub", "msubsup",
  "msup", "mtable", "mtd", "mtext", "mtr"]);
const MATH_ATTRIBUTES = new Set(["accent", "class", "columnalign", "data-symbol", "display", "displaystyle", "form",
  "lspace", "mathvariant", "rspace", "stretchy", "width"]);

/** The element of a node, or a text; a tag that is not in the list is shown as text. */
export function mathElement(node) {
  if (typeof node === "string") return document.createTextNode(node);
  const [tag, attributes, children] = node;
  const element = document.createElementNS(MATHML, MATH_TAGS.has(tag) ? tag : "mtext");
  for (const [name, value] of Object.entries(attributes)) {
    if (MATH_ATTRIBUTES.has(name)) element.setAttribute(name, value);
  }
  element.append(...children.map(mathElement));
  return element;
}

/** An equation as a `math` element with a table, whose rows are lines; `add` appends further lines. */
export function mathTable(lines, label) {
  const table = mathElement(["mtable", { displaystyle: "true" }, []]);
  const whole = mathElement(["math", { display: "block" }, []]);
  whole.append(table);
  if (label) whole.setAttribute("aria-label", label);
  const add = (more) => table.append(...more.map((line) => mathElement(line.math)));
  add(lines);
  return { element: whole, add };
}
