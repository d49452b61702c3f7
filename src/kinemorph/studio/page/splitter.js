// The line between panels and picture, which can be moved by mouse, touch and arrow keys.

import { make } from "./elements.js";

const LEAST = 20, MOST = 80, STEP = 2;   // share of the width that panels have [%]

/** The line beside an element whose width it changes; the width is kept for this browser. */
export function makeSplitter(side) {
  const line = make("div", {
    role: "separator", tabIndex: 0, class: "splitter", "aria-orientation": "vertical", "aria-label": "Width of the panels",
    "aria-valuemin": LEAST, "aria-valuemax": MOST,
  });

  /** Sets the width of the panels [%]. */
  function set(share) {
    const now = Math.min(Math.max(Number(share) || 42, LEAST), MOST);
    side.parentElement?.style.setProperty("--side", `${now}%`);
    line.setAttribute("aria-valuenow", now.toFixed(0));
    localStorage.setItem("side", now);
  }

  line.addEventListener("pointerdown", (event) => {
    line.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  line.addEventListener("pointermove", (event) => {
    if (!line.hasPointerCapture(event.pointerId)) return;
    const desk = side.parentElement.getBoundingClientRect();
    set((100 * (event.clientX - desk.left)) / desk.width);
  });
  line.addEventListener("keydown", (event) => {
    const way = { ArrowLeft: -STEP, ArrowRight: STEP }[event.key];
    if (!way) return;
    event.preventDefault();
    set(Number(line.getAttribute("aria-valuenow")) + way);
  });
  queueMicrotask(() => set(localStorage.getItem("side")));
  return line;
}
