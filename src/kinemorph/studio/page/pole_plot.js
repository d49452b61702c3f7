// Poles in the complex plane, drawn as SVG by script: the real axis to the right, the imaginary axis upward.

import { svg } from "./elements.js";

const WIDTH = 420, HEIGHT = 300, EDGE = 46, TICKS = 5;

/**
 * The plot of poles: {element, choose(number)}. `values` are [alpha, omega], of which `marked` (from 0) grow;
 * `chosen(number)` is called for a pole that is clicked, with its number from 1.
 */
export function polePlot(values, marked, chosen) {
  const points = values.flatMap(([alpha, omega], k) => (omega > 0 ? [omega, -omega] : [omega])
    .map((part) => [alpha, part, k + 1, marked.includes(k)]));
  const span = (values) => {
    const low = Math.min(0, ...values), high = Math.max(0, ...values), room = 0.08 * (high - low || 1);
    return [low - room, high + room];
  };
  const [left, right] = span(points.map(([alpha]) => alpha)), [below, above] = span(points.map(([, omega]) => omega));
  const x = (alpha) => EDGE + (WIDTH - 1.4 * EDGE) * (alpha - left) / (right - left);
  const y = (omega) => HEIGHT - EDGE - (HEIGHT - 1.4 * EDGE) * (omega - below) / (above - below);
  const marks = points.map(([alpha, omega, number, grows]) => svg("g", {
    class: grows ? "pole growing" : "pole", transform: `translate(${x(alpha)} ${y(omega)})`, "data-number": number,
    onclick: () => chosen(number),
  }, svg("title", {}, `pole ${number}: ${short(alpha)} ${omega < 0 ? "−" : "+"} ${short(Math.abs(omega))} i`),
  svg("circle", { r: 9 }), svg("path", { d: "M-4-4 4 4M-4 4 4-4" })));
  const element = svg("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "poleplot", role: "img",
    "aria-label": `${values.length} poles in the complex plane, of which ${marked.length} grow; `
      + "the table below lists them",
  },
  steps(left, right).map((value) => [svg("path", { class: "line", d: `M${x(value)} ${y(below)}V${y(above)}` }),
    svg("text", { x: x(value), y: HEIGHT - EDGE + 15, "text-anchor": "middle" }, short(value))]).flat(),
  steps(below, above).map((value) => [svg("path", { class: "line", d: `M${x(left)} ${y(value)}H${x(right)}` }),
    svg("text", { x: EDGE - 5, y: y(value) + 4, "text-anchor": "end" }, short(value))]).flat(),
  svg("path", { class: "axis", d: `M${x(left)} ${y(0)}H${x(right)}M${x(0)} ${y(below)}V${y(above)}` }),
  svg("text", { x: WIDTH / 2, y: HEIGHT - 6, "text-anchor": "middle" }, "real part α [1/s]"),
  svg("text", { x: 12, y: HEIGHT / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${HEIGHT / 2})` },
    "imaginary part ω [rad/s]"), marks);
  const choose = (number) => marks.forEach((mark) =>
    mark.classList.toggle("chosen", mark.getAttribute("data-number") === String(number)));
  return { element, choose };
}

/** Round values between two limits. */
function steps(low, high) {
  const rough = (high - low) / TICKS, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((one) => one * power >= rough) ?? 10), found = [];
  for (let k = Math.ceil(low / step); k * step <= high; k += 1) found.push(k * step);
  return found;
}

/** A number with four digits at most. */
function short(value) {
  return String(Number(value.toPrecision(4))).replace("-", "−");
}
