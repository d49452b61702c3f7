"""The panel Exports: code, programs, model files, pictures and replays, each as a download with its size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kinemorph.display.serving.channel import Channel
from kinemorph.errors import UnsupportedError
from kinemorph.studio.jobs.page_tasks import Made, document_data
from kinemorph.studio.panels.equations import FORMULATIONS
from kinemorph.studio.panels.same_in_python import Code, assign, call, command, same, script
from kinemorph.studio.requests import request
from kinemorph.studio.session import Session
from kinemorph.words import listed

# the kinds of exports with their options and the types of these
EXPORTS: dict[str, dict[str, tuple[type, ...]]] = {
    "code": {
        "form": (str,),
        "functions": (list,),
        "formulation": (str,),
        "precision": (str,),
        "frame": (str,),
    },
    "program": {"target": (str,), "run": (str,)},
    "model": {"format": (str,)},
    "picture": {"picture": (str,), "ending": (str,)},
    "replay": {},
}
FORMS = {
    "c": "C",
    "cuda": "CUDA",
    "python": "Python",
    "matlab": "MATLAB",
    "sympy": "SymPy",
    "llvm": "LLVM",
    "latex": "LaTeX",
    "typst": "typst",
    "mathml": "MathML",
    "text": "plain text",
    "graph": "list of operations",
}
TARGETS = {
    "c": "C",
    "cpp": "C++",
    "python": "Python",
    "matlab": "MATLAB",
    "fmu2": "FMU 2.0",
    "fmu3": "FMU 3.0",
}


@request("export_choices")
def export_choices(session: Session, channel: Channel, *, document: str) -> dict[str, Any]:
    """What can be exported of a model."""
    from kinemorph.deriving.function_names import BODY_FUNCTIONS, CONSTRAINT_FUNCTIONS, FRAME_FUNCTIONS, STATE_FUNCTIONS
    from kinemorph.display.exports import emitted_forms
    from kinemorph.display.exports.export_files import PICTURE_ENDINGS, available_pictures, written_formats

    system = session.model(document)
    functions = [*STATE_FUNCTIONS, *BODY_FUNCTIONS, *FRAME_FUNCTIONS]
    functions += [] if system.robot.is_open else [*CONSTRAINT_FUNCTIONS]
    return {
        "forms": [[key, FORMS.get(key, key)] for key, row in emitted_forms.FORMS.items() if row.write],
        "precise": [key for key, row in emitted_forms.FORMS.items() if row.precise],
        "functions": functions,
        "framed": list(FRAME_FUNCTIONS),
        "frames": [*(frame.name for frame in system.robot.frames), *system.robot.body_names],
        "formulations": list(FORMULATIONS.items()),
        "targets": list(TARGETS.items()),
        "runs": list(system.runs),
        "formats": list(written_formats().items()),
        "pictures": list(available_pictures(system).items()),
        "endings": list(PICTURE_ENDINGS),
    }


@request("export_model")
def export_model(
    session: Session, channel: Channel, *, document: str, export: str, options: dict[str, Any]
) -> dict[str, Any]:
    """Makes an export in a worker and offers it as a download."""
    if export not in EXPORTS:
        raise UnsupportedError(f"the export is {export[:40]!r}; expected one of: {listed(EXPORTS)}.")
    known = EXPORTS[export]
    for key, value in options.items():
        if key not in known or not isinstance(value, known[key]) or isinstance(value, bool):
            raise UnsupportedError(
                f"option {key[:40]!r} of the export '{export}' is {str(value)[:40]!r}; expected options "
                f"{listed(known) or 'none'} with texts and numbers."
            )
    for name in options.get("functions", []):
        if not isinstance(name, str):
            raise UnsupportedError(f"a function to export is {str(name)[:40]!r}; expected the name of a function.")
    told = _same(document, export, options)
    data = document_data(session, document) | {"export": export, "options": options}

    def finish(made: Made) -> dict[str, Any]:
        return {**made.data, "same": told}

    return session.tasks.start(channel, "export_model", data, finish)


def _same(document: str, export: str, options: dict[str, Any]) -> dict[str, str]:
    """The Python and the command that make the same export."""
    file, stem = Path(document).name, Path(document).stem
    lines = ["import kinemorph as km", "", assign("model", call("km.load", file))]
    model = Code("model")
    if export == "code":
        functions = options.get("functions") or ["inverse_dynamics"]
        by = options.get("formulation")
        given = {key: options.get(key) for key in ("formulation", "precision", "frame")}
        lines += ["from kinemorph.display.exports.export_files import code_files", ""]
        made = call("code_files", model, options.get("form", "c"), functions, **given)
        lines.append(assign("files", f"{made}.files"))
        shell = command(
            "derive",
            file,
            formulation=by,
            function=functions,
            frame=options.get("frame"),
            emit=options.get("form", "c"),
            precision=options.get("precision"),
            output=f"{stem}_code/",
        )
    elif export == "program":
        target, run = options.get("target", "c"), options.get("run")
        lines.insert(1, "from kinemorph.simulation.planned_run import prepared_run")
        lines.append(assign("run", call("prepared_run", model, *([run] if run else []))))
        lines.append(assign("job", "km.programs.make_job(run.system, run.until, **run.arguments)"))
        lines.append(call("km.programs.write_program", Code("job"), target, "program"))
        shell = command("program", file, to=target, run=run, output="program")
    elif export == "model":
        row = options.get("format", "toml")
        lines.append(call("km.save", model, f"{stem}_exported.{row}", format=row))
        shell = command("export", file, to=row)
    elif export == "picture":
        name = f"{stem}.{options.get('ending', 'png')}"
        drawn = {
            "plan": call("km.modules.draw_plan", Code("model.assembly"), path=name),
            "poles": call("km.plot_poles", Code(call("km.poles", model)), path=name),
        }
        lines.append(drawn.get(options.get("picture", "robot"), call("km.draw", model, path=name)))
        if options.get("picture") == "plan":
            shell = command("assemble", file, picture=name)
        elif options.get("picture") == "poles":
            shell = command("analyze", file, "poles", plot=name)
        else:
            shell = command("show", file, png=name)
    else:
        lines.append(call("km.replay", model, f"{stem}.html"))
        shell = command("show", file, html=f"{stem}.html")
    return same(script(*lines), shell)
