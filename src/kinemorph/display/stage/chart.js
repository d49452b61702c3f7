// Plots of columns over time below the picture: one for each unit, with the current values in its legend.

import { readable } from "./controls.js";
import { make, makeSample } from "./elements.js";
import { momentAt } from "./motion/posing.js";
import { setTime } from "./playing.js";

const LINES = {
  light: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#332288", "#999933", "#882255", "#6b6b6b"],
  dark: ["#4ba3e3", "#ff8c42", "#35c49a", "#e29ac2", "#8fd0f5", "#f2bc4a", "#a89bf0", "#c9c95c", "#d9679a", "#a5a5a5"],
};
const DASHES = [[], [6, 3], [2, 2.5], [9, 3, 2, 3], [4, 2], [12, 4]];
const LEFT = 46, RIGHT = 10, TOP = 6, BOTTOM = 17;   // margins of a plot [pixels]
const SOFT = { willReadFrequently: true };   // drawn rarely: dashed lines are faster without the graphics card
const ROUNDING = 1e-6;       // relative changes of values below this count as constant
const TOLD = 3;              // figures whose values a legend shows
const VALUE_REST = 90;       // between two updates of the legend while a run plays [ms]

/** The plots of a scene, or null where it has nothing to plot. */
export function makeChart(app) {
  const { series } = app.scene;
  if (!series.length || app.last <= app.first) return null;
  const figures = [...new Set(series.map((one) => one.figure))], plots = [];
  for (const unit of new Set(series.map((one) => one.unit))) {
    const own = series.filter((one) => one.unit === unit), names = [...new Set(own.map((one) => one.name))];
    const plot = { unit, names, figures, entries: [], low: Infinity, high: -Infinity, digits: 3 };
    for (const one of own) {
      const color = names.indexOf(one.name), dash = figures.indexOf(one.figure);
      plot.entries.push({ series: one, name: one.name, color, dash });
    }
    rangePlot(plot);
    plots.push(fillPlot(app, plot));
  }
  return { plots, told: 0 };
}

/** Sets the range of a plot by the values of its series. */
function rangePlot(plot) {
  [plot.low, plot.high] = [Infinity, -Infinity];
  for (const { series: { values } } of plot.entries) {
    for (const value of values) {
      if (value < plot.low) plot.low = value;
      if (value > plot.high) plot.high = value;
    }
  }
  if (!(plot.low <= plot.high)) [plot.low, plot.high] = [0, 1];
  const most = Math.max(Math.abs(plot.high), Math.abs(plot.low)), middle = 0.5 * (plot.low + plot.high);
  let room = plot.high - plot.low;
  if (!(room > ROUNDING * most)) {   // a constant line needs a range too
    room = 0.1 * most || 1;
    [plot.low, plot.high] = [middle - 0.5 * room, middle + 0.5 * room];
  }
  plot.digits = Math.max(0, Math.min(6, 4 - Math.ceil(Math.log10(room))));
  plot.scientific = most >= 1e6 || most < 1e-3;
  plot.low -= 0.06 * room;
  plot.high += 0.06 * room;
}

/** Draws the plots anew after the run has grown; makes them where there was nothing to plot before. */
export function refreshChart(app) {
  if (app.options.plots && !app.chart) {
    app.chart = makeChart(app);
    app.ui.chart.hidden = !app.chart;
    app.ui.plots.hidden = !app.chart || app.ui.chart.getAttribute("aria-pressed") !== "true";
    app.resized = true;
    return;
  }
  app.chart?.plots.forEach(rangePlot);
  drawChart(app);
}

/** The elements of one plot: legend, canvas, cursor. */
function fillPlot(app, plot) {
  const host = make("div", "", { className: "plot" }), legend = make("div", "", { className: "legend" });
  plot.paper = make("div", "", { className: "paper" });
  plot.canvas = make("canvas");
  plot.cursor = make("div");
  plot.values = plot.names.map((name) => {
    const entry = make("span"), value = make("b"), count = Math.min(plot.figures.length, TOLD);
    // room for the widest value, so that the legend is not wrapped differently while a run plays
    const widest = Math.max(written(plot, plot.low).length, written(plot, plot.high).length);
    value.style.minWidth = `${Math.min(widest, 12) * count + 2 * (count - 1) + plot.unit.length + 1}ch`;
    entry.append(makeSample(""), `${name} `, value);
    legend.append(entry);
    return value;
  });
  if (plot.figures.length > 1) {
    plot.figures.forEach((figure, i) => {
      const entry = make("span");
      entry.append(makeSample(DASHES[i % DASHES.length].join(" ")), figure);
      legend.append(entry);
    });
  }
  plot.legend = legend;
  plot.paper.append(plot.canvas, plot.cursor);
  host.append(legend, plot.paper);
  app.ui.plots.append(host);
  const seek = (event) => {
    const { left, width } = plot.paper.getBoundingClientRect();
    setTime(app, app.first + (app.last - app.first) * (event.clientX - left - LEFT) / (width - LEFT - RIGHT));
  };
  plot.paper.addEventListener("pointerdown", (event) => {
    plot.paper.setPointerCapture(event.pointerId);
    seek(event);
  });
  plot.paper.addEventListener("pointermove", (event) => { if (event.buttons & 1) seek(event); });
  return plot;
}

/** A value in the legend of a plot; very large and very small ones with a power of ten. */
function written(plot, value) {
  return plot.scientific && value ? value.toExponential(3).replace("e+", "e") : value.toFixed(plot.digits);
}

/** Round numbers between two values, approximately as many as requested. */
function roundTicks(low, high, count) {
  const rough = (high - low) / Math.max(count, 1), power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999) * power, ticks = [];
  for (let k = Math.ceil(low / step - 1e-6); k * step <= high + 1e-6 * step; k++) ticks.push(k * step);
  return ticks.length > 1 || count > 20 ? ticks : roundTicks(low, high, 2 * Math.max(count, 1));
}

/** Draws all plots again, without the cursors and the current values. */
export function drawChart(app) {
  if (!app.chart || app.ui.plots.hidden) return;
  const style = getComputedStyle(app.ui.root), colors = LINES[app.dark ? "dark" : "light"];
  const paint = { ink: style.getPropertyValue("--pale"), edge: style.getPropertyValue("--edge"), colors };
  for (const plot of app.chart.plots) {
    plot.legend.querySelectorAll("svg").forEach((line, i) => {
      line.style.color = i < plot.names.length ? colors[i % colors.length] : paint.ink;
    });
    drawPlot(app, plot, paint);
  }
  moveCursor(app);
}

/** One plot: axes with round numbers, events, lines. */
function drawPlot(app, plot, { ink, edge, colors }) {
  const { canvas, low, high } = plot, { times, events } = app.scene, ratio = window.devicePixelRatio || 1;
  const width = plot.paper.clientWidth, height = plot.paper.clientHeight, pen = canvas.getContext("2d", SOFT);
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  const wide = width - LEFT - RIGHT, tall = height - TOP - BOTTOM;
  if (wide < 10 || tall < 10) return;
  const x = (t) => LEFT + wide * (t - app.first) / (app.last - app.first);
  const y = (value) => TOP + tall * (high - value) / (high - low);
  pen.font = "11px system-ui, sans-serif";
  pen.fillStyle = ink;
  pen.strokeStyle = edge;
  pen.lineWidth = 1;
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  for (const value of roundTicks(low, high, tall / 24)) {
    pen.beginPath();
    pen.moveTo(LEFT, Math.round(y(value)) + 0.5);
    pen.lineTo(LEFT + wide, Math.round(y(value)) + 0.5);
    pen.stroke();
    pen.fillText(readable(value, 6), LEFT - 6, y(value), LEFT - 8);
  }
  pen.textAlign = "center";
  pen.textBaseline = "bottom";
  const ticks = roundTicks(app.first, app.last, wide / 90);
  ticks.forEach((t, i) => {
    const last = i === ticks.length - 1;
    pen.textAlign = x(t) > LEFT + wide - 16 ? "right" : "center";
    pen.fillText(last ? `${readable(t, 6)} s` : readable(t, 6), Math.min(x(t), LEFT + wide), height - 1);
  });
  pen.strokeStyle = "rgb(213 94 0 / 0.35)";
  pen.beginPath();
  for (const { t } of events.length > wide / 6 ? [] : events) {
    pen.moveTo(Math.round(x(t)) + 0.5, TOP);
    pen.lineTo(Math.round(x(t)) + 0.5, TOP + tall);
  }
  pen.stroke();
  pen.save();
  pen.beginPath();
  pen.rect(LEFT, 0, wide, height - BOTTOM + 1);
  pen.clip();
  pen.lineWidth = 1.6;
  pen.lineJoin = "round";
  for (const { series: { values }, color, dash } of plot.entries) {
    pen.strokeStyle = colors[color % colors.length];
    pen.setLineDash(DASHES[dash % DASHES.length]);
    pen.beginPath();
    let drawn = false;
    for (let k = 0; k < values.length; k++) {
      if (!Number.isFinite(values[k])) {
        drawn = false;
        continue;
      }
      if (drawn) pen.lineTo(x(times[k]), y(values[k])); else pen.moveTo(x(times[k]), y(values[k]));
      drawn = true;
    }
    pen.stroke();
  }
  pen.restore();
  Object.assign(plot, { wide, tall });
  plot.cursor.style.top = `${TOP}px`;
  plot.cursor.style.height = `${tall}px`;
}

/** Moves the cursors to the current time, and updates the values there from time to time. */
export function moveCursor(app) {
  const { chart } = app, now = performance.now();
  if (app.ui.plots.hidden) return;
  const part = (app.time - app.first) / (app.last - app.first);
  const tell = !app.playing || now - chart.told > VALUE_REST;
  if (tell) chart.told = now;
  for (const plot of chart.plots) {
    if (plot.wide) plot.cursor.style.transform = `translateX(${(LEFT + plot.wide * part).toFixed(1)}px)`;
    if (tell) tellValues(app, plot);
  }
}

/** Writes the values of a plot at the current time into its legend. */
function tellValues(app, plot) {
  const { before, after, part } = momentAt(app.scene.times, app.time);
  plot.names.forEach((name, i) => {
    const own = plot.entries.filter((entry) => entry.name === name);
    const shown = own.slice(0, TOLD).map(({ series: { values } }) => {
      const value = values[before] + part * (values[after] - values[before]);
      return Number.isFinite(value) ? written(plot, value) : "–";
    });
    plot.values[i].textContent = `${shown.join(" | ")}${own.length > TOLD ? " …" : ""} ${plot.unit}`;
  });
}
