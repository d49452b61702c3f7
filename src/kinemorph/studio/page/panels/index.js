// The panels of the studio, in the order of their tabs. The script of a panel is called like its key; it exports
// open(host, studio), and is loaded when the panel is opened, or after the first picture.

export const PANELS = [
  { key: "files", title: "Files", help: "Model files, templates, the library, and files of your own" },
  { key: "assemble", title: "Assemble", help: "Assemble modules in a grid" },
  { key: "tables", title: "Tables", help: "AIM, DTL, IDTL and matrices of the modules" },
  { key: "model", title: "Model", help: "All parts of the model, and a form for each" },
  { key: "text", title: "Text", help: "The file as text, with its findings" },
  { key: "start", title: "Start", help: "The configuration at which runs begin" },
  { key: "equations", title: "Equations", help: "The equations of motion, as formulas and as text" },
  { key: "analysis", title: "Analysis", help: "Verification, degrees of freedom, equilibrium, poles and modes" },
  { key: "runs", title: "Runs", help: "Compute motions of the model, play them, plot, compare, audit and export them" },
  { key: "live", title: "Live", help: "Run the model in real time: pull bodies, set inputs, dock and undock" },
  { key: "exports", title: "Exports", help: "Code, programs, model files, pictures and replays" },
  { key: "report", title: "Report", help: "A document about the model and its runs, as PDF or HTML" },
];

/** A promise of the script of a panel; it is loaded once. */
export const loadPanel = (key) => import(`./${key}.js`);
