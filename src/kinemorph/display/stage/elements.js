// Elements of the page, made by script: no markup is ever parsed.

const SVG = "http://www.w3.org/2000/svg";
const STROKED = {
  fill: "none", stroke: "currentColor", "stroke-width": "1.8", "stroke-linecap": "round", "stroke-linejoin": "round",
};
const ICONS = {
  play: ["M7 4.5v15l12-7.5z"],
  pause: ["M6 5h4v14H6zM14 5h4v14h-4z"],
  loop: ["M17 2l4 4-4 4M3 11V9a3 3 0 013-3h15M7 22l-4-4 4-4M21 13v2a3 3 0 01-3 3H3", STROKED],
  chart: ["M4 4v16h16M7 15l4-6 4 4 5-8", STROKED],
  joints: ["M4 7h9M17 7h3M4 17h3M11 17h9M17 7a2 2 0 10-4 0 2 2 0 104 0M11 17a2 2 0 10-4 0 2 2 0 104 0", STROKED],
  views: ["M12 3l8 4.5v9L12 21l-8-4.5v-9zM12 12l8-4.5M12 12v9M12 12L4 7.5", STROKED],
  layers: ["M12 3l9 5-9 5-9-5zM4 12.5l8 4.5 8-4.5M4 16.5l8 4.5 8-4.5", STROKED],
  full: ["M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5", STROKED],
};

/** An element with a text and properties; names with a hyphen, and `role`, are set as attributes. */
export function make(tag, text = "", properties = {}) {
  const element = document.createElement(tag);
  if (text) element.textContent = text;
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role") element.setAttribute(name, value); else element[name] = value;
  }
  return element;
}

/** An element of a drawing, with attributes. */
export function makeShape(tag, attributes = {}) {
  const shape = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) shape.setAttribute(name, value);
  return shape;
}

/** A drawing of 24 x 24 units that shows one of the icons. */
export function makeIcon(name) {
  const [d, look = { fill: "currentColor" }] = ICONS[name];
  const icon = makeShape("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" });
  icon.append(makeShape("path", { d, ...look }));
  return icon;
}

/** A short piece of a line with dashes, for a legend. */
export function makeSample(dashes) {
  const drawing = makeShape("svg", { viewBox: "0 0 18 8", "aria-hidden": "true" });
  const line = { d: "M0 4h18", stroke: "currentColor", "stroke-width": "2", "stroke-dasharray": dashes };
  drawing.append(makeShape("path", line));
  return drawing;
}
