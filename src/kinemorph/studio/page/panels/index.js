// The panels of the studio, in the order of their tabs.

import { panel as analysis } from "./analysis.js";
import { panel as assemble } from "./assemble.js";
import { panel as equations } from "./equations.js";
import { panel as exports } from "./exports.js";
import { panel as files } from "./files.js";
import { panel as live } from "./live.js";
import { panel as model } from "./model.js";
import { panel as report } from "./report.js";
import { panel as runs } from "./runs.js";
import { panel as start } from "./start.js";
import { panel as tables } from "./tables.js";
import { panel as text } from "./text.js";

export const PANELS = [
  files, assemble, tables, model, text, start, equations, analysis, runs, live, exports, report,
];
