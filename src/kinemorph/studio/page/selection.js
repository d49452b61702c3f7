// The selection in the picture: what is selected is lit up there, and a click on a body selects it.

/** Connects the selection of a studio with its picture, for as long as the page lives. */
export function bindSelection(studio) {
  studio.on("select", () => lightUp(studio));
  studio.on("picture", () => lightUp(studio));
  studio.on("pick", ({ body, port }) => {
    if (port) return;
    studio.select(body ? { kind: "body", name: body } : null);
    if (body && studio.state && !studio.state.assembly) studio.open("model");   // its form
  });
}

/** Lights up the bodies of the selected part, and nothing else. */
function lightUp(studio) {
  const { stage, selection } = studio;
  stage?.highlight?.(selection ? bodiesOf(stage.scene, selection).map((body) => ({ figure: 0, body })) : []);
}

/** The names of the bodies in a scene that a selected part consists of, or moves. */
function bodiesOf(scene, { kind, name }) {
  const figure = scene?.figures?.[0];
  if (!figure) return [];
  if (kind === "body") return figure.bodies.filter((body) => body === name);
  if (kind === "module") return figure.bodies.filter((body) => body === name || body.startsWith(`${name}_`));
  if (kind !== "joint") return [];
  const joint = figure.joints?.find((one) => one.name === name || one.labels?.includes(name));
  return joint ? [figure.bodies[joint.child] ?? joint.child].filter(Boolean) : [];
}
