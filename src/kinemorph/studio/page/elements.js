// Elements of the page, made by script: every text is a text node, so that no name of a model is ever read as HTML.

const SVG = "http://www.w3.org/2000/svg";
let counter = 0;   // of ids that connect labels with their controls

/** A text that is unique on the page, for ids. */
export function freshId(stem = "x") {
  counter += 1;
  return `${stem}-${counter}`;
}

/**
 * An element with properties and children.
 *
 * `onclick` and the like are listeners; `class`, `role`, `aria-...`, `data-...`, `for` are attributes; true sets an empty
 * attribute, false, null and undefined set none; whatever else the element has as a property is assigned. Children are
 * elements, texts, or lists of them; null is left out.
 */
export function make(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

/** An SVG element with attributes and children. */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, String(value));
  }
  element.append(...flat(children));
  return element;
}

/** Sets properties of an element and appends children; see `make`. */
export function fill(element, properties, children = []) {
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on") && typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value === false || value === null || value === undefined) element.removeAttribute(name);
    else if (!name.includes("-") && name !== "class" && name !== "role" && name in element) element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...flat(children));
  return element;
}

/** A list of children without lists in it and without gaps; numbers become texts. */
function flat(children) {
  return children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false)
    .map((one) => (one instanceof Node ? one : String(one)));
}

/** Replaces all children of an element. */
export function refill(element, ...children) {
  element.replaceChildren(...flat(children));
  return element;
}

/** A button. `options`: title, pressed (true or false for a switch), kind ("main", "quiet", "danger"), disabled. */
export function button(label, onclick, { title, pressed, kind = "", disabled = false, icon, ...rest } = {}) {
  return make("button", {
    type: "button", class: `button ${kind}`.trim(), title: title ?? null, disabled, onclick,
    "aria-pressed": pressed === undefined ? null : String(Boolean(pressed)),
    "aria-label": icon ? label : null, ...rest,
  }, icon ?? label);
}

/** An action of a button that does nothing while it is under way: a double click acts once. */
export function once(act) {
  let busy = false;
  return async (event) => {
    if (busy) return;
    busy = true;
    try {
      await act(event);
    } finally {
      busy = false;
    }
  };
}

/** A labelled control with help and an error sentence below it. The label and both sentences belong to the control. */
export function field(label, control, { help = "", error = "", unit = "" } = {}) {
  const id = control.id || freshId("field"), said = [];
  control.id = id;
  const row = make("div", { class: "field" }, make("label", { for: id }, label), make("div", { class: "entry" }, control,
    unit ? make("span", { class: "unit" }, unit) : null));
  for (const [text, kind] of [[help, "help"], [error, "error"]]) {
    if (!text) continue;
    const line = make("p", { class: kind, id: freshId(kind) }, text);
    said.push(line.id);
    row.append(line);
  }
  if (said.length) control.setAttribute("aria-describedby", said.join(" "));
  if (error) control.setAttribute("aria-invalid", "true");
  return row;
}

/** A list of choices. `options` are texts or [value, text, group]; `onchange` gets the chosen value. */
export function choice(options, value, onchange, properties = {}) {
  const element = make("select", { onchange: () => onchange?.(element.value), ...properties });
  for (const one of options) {
    const [key, text, group = ""] = Array.isArray(one) ? one : [one, one];
    const line = make("option", { value: key, selected: String(key) === String(value) }, text);
    if (!group) element.append(line);
    else if (element.lastElementChild?.label === group) element.lastElementChild.append(line);
    else element.append(make("optgroup", { label: group }, line));
  }
  return element;
}

/** An entry for one line of text; `onchange` gets the text when it is confirmed. */
export function entry(value, onchange, properties = {}) {
  const element = make("input", { type: "text", autocomplete: "off", spellcheck: false, ...properties,
    onchange: () => onchange?.(element.value) });
  element.value = value ?? "";
  return element;
}

/** A box that can be ticked, with its label. */
export function tick(label, checked, onchange, properties = {}) {
  const box = make("input", { type: "checkbox", checked, onchange: () => onchange?.(box.checked), ...properties });
  return make("label", { class: "tick" }, box, " ", label);
}

/**
 * A table with a caption. `head` are texts; `rows` are lists of texts or elements; `mark(row)` gives attributes. Without a
 * caption, its heads are its name for those who do not see it.
 */
export function tableOf({ caption, head = [], rows, mark = () => ({}), headed = false }) {
  const name = caption || head.filter(Boolean).join(", ") || rows.map(([first]) => first).join(", ");
  return make("div", { class: "scrolled", tabIndex: 0, role: "region", "aria-label": name },
    make("table", {}, caption ? make("caption", {}, caption) : null,
      head.length ? make("thead", {}, make("tr", {}, head.map((text) => make(text ? "th" : "td", text ? { scope: "col" } : {}, text)))) : null,
      make("tbody", {}, rows.map((row, k) => make("tr", mark(row, k), row.map((cell, c) =>
        make(headed && c === 0 ? "th" : "td", headed && c === 0 ? { scope: "row" } : {}, cell)))))));
}

/** A text to copy, such as a command, with a button that copies it. */
export function copyable(label, text) {
  const done = make("span", { role: "status", class: "help" });
  return make("figure", { class: "copyable" }, make("figcaption", {}, label, " ", button("Copy", async () => {
    try {
      await navigator.clipboard.writeText(text);
      done.textContent = "copied";
    } catch {
      done.textContent = "the browser does not allow copying; select the text";
    }
  }, { kind: "quiet", "aria-label": `Copy ${label}` }), done),
  make("pre", { tabIndex: 0, role: "region", "aria-label": label }, make("code", {}, text)));
}

/** A part that can be folded. */
export function folded(summary, open, ...children) {
  return make("details", { open, class: "folded" }, make("summary", {}, summary), children);
}

/** Asks for one text in a dialog; a promise of the text, or of null if it was cancelled. */
export function askText(title, label, value = "", { help = "", confirm = "OK" } = {}) {
  return new Promise((resolve) => {
    const input = entry(value, null);
    const box = dialog(title, [field(label, input, { help })], [[confirm, () => input.value, "main"]], resolve);
    box.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.target === input) {
        event.preventDefault();
        box.returned = input.value;
        box.close();
      }
    });
    input.focus();
    input.select();
  });
}

/** Asks for a decision; a promise of true or false. */
export async function askWhether(title, text, confirm = "Yes") {
  return new Promise((resolve) => {
    dialog(title, [make("p", {}, text)], [[confirm, () => true, "main"]], (value) => resolve(value === true));
  });
}

/** A modal dialog. `actions` are [label, () => value, kind]; `closed` gets the value, null after Cancel or Escape. */
export function dialog(title, content, actions, closed = () => {}) {
  const heading = freshId("title");
  const box = make("dialog", { "aria-labelledby": heading }, make("h2", { id: heading }, title), content);
  box.returned = null;
  box.append(make("div", { class: "actions" },
    actions.map(([label, value, kind]) => button(label, () => { box.returned = value(); box.close(); }, { kind })),
    button("Cancel", () => box.close())));
  box.addEventListener("close", () => { box.remove(); closed(box.returned); });
  document.body.append(box);
  box.showModal();
  return box;
}

/** A size in bytes as text. */
export function sizeText(bytes) {
  return bytes >= 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : bytes >= 1e3 ? `${(bytes / 1e3).toFixed(0)} kB` : `${bytes} B`;
}

/** A link that downloads what the server offers as {address, name, size}. */
export function downloadLink(offer) {
  return make("a", { class: "button", href: offer.address, download: offer.name }, `${offer.name} (${sizeText(offer.size)})`);
}
