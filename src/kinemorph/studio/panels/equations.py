"""The panel Equations: what can be written, the equations of a model in parts, and the same as text to copy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kinemorph.display.serving.channel import Channel
from kinemorph.errors import UnsupportedError
from kinemorph.model.system import System
from kinemorph.studio.jobs.page_tasks import (
    Made,
    document_data,
)
from kinemorph.studio.panels.same_in_python import Code, assign, call, command, same, script
from kinemorph.studio.requests import request
from kinemorph.studio.session import Session

FORMULATIONS = {
    "newton_euler": "Newton-Euler recursion",
    "lagrange": "Lagrange",
    "closed_form": "Closed form of the paper",
    "dalembert": "d'Alembert",
    "incidence": "Incidence matrices of the kinematic graph",
    "quasicoordinates": "Quasi-coordinates",
}
NAMES = {"numbers": "q1, q2, ...", "joints": "names of the joints"}
ROOMS = (20.0, 200.0)  # the least and the largest width of a line [em]
VIRTUAL_JOINTS = ("x", "y", "z", "rx", "ry", "rz")


@request("equation_choices")
def equation_choices(session: Session, channel: Channel, *, document: str) -> dict[str, Any]:
    """What a model offers: quantities, formulations, and for docked modules bases, dyads and roots."""
    from kinemorph.display.equations.shown_equations import QUANTITIES, available_quantities

    system = session.model(document)
    known = available_quantities(system.robot, "incidence")
    return {
        "quantities": [[key, title, QUANTITIES[key].needs == "incidence"] for key, title in known.items()],
        "formulations": list(FORMULATIONS.items()),
        "names": list(NAMES.items()),
        "modules": _modules(system),
    }


def _modules(system: System) -> dict[str, Any] | None:
    """The choices of docked modules, and what the file has chosen; None for a robot without modules."""
    from kinemorph.formats.toml.assembly_text import robot_options
    from kinemorph.model.modules.module_types import DYADS

    if system.assembly is None:
        return None
    now = robot_options(system.assembly, system.robot) or {}
    root = now.get("root", "free")
    return {
        "bases": list(system.assembly.names),
        "dyads": list(DYADS),
        "virtual": list(VIRTUAL_JOINTS),
        "now": {
            "base": now.get("base", system.assembly.base),
            "dyads": now.get("dyads", "halves"),
            "root": root if isinstance(root, str) else list(root),
        },
    }


@request("write_equations")
def write_equations(
    session: Session,
    channel: Channel,
    *,
    document: str,
    quantities: list[Any],
    formulation: str = "newton_euler",
    symbols: bool = True,
    names: str = "numbers",
    room: float = 60.0,
    modules: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Writes equations in a worker; the result is folded, and `unfold_equations` returns more of it."""
    from kinemorph.display.equations.shown_equations import folded

    wanted = [key for key in quantities if isinstance(key, str)]
    if not wanted:
        raise UnsupportedError("no quantity is chosen; expected at least one. Choose the mass matrix, for example.")
    chosen = checked_modules(modules)
    data = document_data(session, document) | {
        "quantities": wanted,
        "formulation": formulation,
        "symbols": symbols,
        "names": names,
        "room": min(max(room, ROOMS[0]), ROOMS[1]),
        "modules": chosen,
    }
    told = _same(document, wanted, formulation, symbols, names, chosen)

    def finish(made: Made) -> dict[str, Any]:
        session.tasks.keep(made)
        return {**folded(made.data), "task": made.task, "same": told}

    return session.tasks.start(channel, "write_equations", data, finish)


def checked_modules(given: dict[str, Any] | None) -> dict[str, Any]:
    """The choices of base, dyads and root from a page. Raises UnsupportedError for anything else."""
    for key, value in (given or {}).items():
        texts = value if isinstance(value, list) else [value]
        if key not in ("base", "dyads", "root") or not all(isinstance(one, str) for one in texts):
            raise UnsupportedError(f"modules has {key!r:.40}: {value!r:.40}; expected texts for base, dyads and root.")
    return {key: value for key, value in (given or {}).items() if value}


@request("unfold_equations")
def unfold_equations(
    session: Session, channel: Channel, *, task: int, group: int, equation: int, line: int | None = None
) -> dict[str, Any]:
    """More equations of a group, from number `equation` on; or more lines of this equation, from `line` on."""
    from kinemorph.display.equations.shown_equations import unfolded

    return unfolded(session.tasks.kept(task), group, equation, line)


@request("equation_text")
def equation_text(session: Session, channel: Channel, *, task: int, form: str) -> dict[str, Any]:
    """All equations that a task has written, as LaTeX, typst or plain text."""
    texts = session.tasks.kept(task).get("texts", {})
    if form not in texts:
        raise UnsupportedError(f"the form is {form[:40]!r}; expected one of: {', '.join(texts) or 'none'}.")
    return {"text": texts[form]}


@request("cancel_task")
def cancel(session: Session, channel: Channel, *, task: int) -> None:
    """Ends a task that a panel has started."""
    session.tasks.cancel(task)


def _same(
    document: str, wanted: list[str], formulation: str, symbols: bool, names: str, modules: dict[str, Any]
) -> dict[str, str]:
    """The Python and the command that write the same equations; no command where there is none with these choices."""
    file, by = Path(document).name, None if formulation == "newton_euler" else formulation
    lines = ["import kinemorph as km", "", assign("model", call("km.load", file))]
    if modules:
        lines.append(assign("model", call("km.modules.reassembled", Code("model"), **modules)))
    spelled = None if names == "numbers" else names
    form = {("inverse_dynamics",): "forces", ("mass_matrix", "bias_forces"): "matrices"}.get(tuple(wanted))
    if form is not None:
        named = {"parameters": None if symbols else Code("None"), "gravity": None if symbols else "number"}
        written = call("km.equations_of_motion", Code("model"), form, formulation=by, names=spelled, **named)
        lines.append(f"print({written}.latex)")
    else:
        lines.insert(1, "from kinemorph.display.equations.shown_equations import shown_equations")
        plain = None if symbols else False
        whole = call("shown_equations", Code("model"), wanted, formulation=by, symbols=plain, names=spelled)
        lines += [assign("found", whole), 'print(found["texts"]["latex"])']
    return same(script(*lines), _command(file, wanted, by, symbols, modules) if spelled is None else "")


def _command(file: str, wanted: list[str], by: str | None, symbols: bool, modules: dict[str, Any]) -> str:
    """The command that prints these quantities; empty where one of them is no function of `kinemorph derive`."""
    from kinemorph.deriving.function_names import FUNCTIONS

    if not set(wanted) <= set(FUNCTIONS):
        return ""
    lines = []
    if modules:
        given = {key: value if isinstance(value, str) else ",".join(value) for key, value in modules.items()}
        lines.append(command("assemble", file, **given, model="chosen.toml"))
        file = "chosen.toml"
    parameters = None if symbols else "none"
    lines.append(command("derive", file, formulation=by, function=wanted, emit="latex", parameters=parameters))
    return "\n".join(lines)
