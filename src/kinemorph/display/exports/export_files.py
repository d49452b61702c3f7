"""Exports of a model as bytes by file name: code, programs, model files, pictures and replays.

Every function returns `Exported`: the files, and notes on what could not be carried over, by name. `as_download` makes
one file of them, a zip archive where there are several; the same files always give the same bytes.
"""

from __future__ import annotations

import io
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from kinemorph.codegen.backends.identifiers import identifier
from kinemorph.display.exports import emitted_forms
from kinemorph.errors import UnsupportedError
from kinemorph.formats import FORMATS
from kinemorph.model.system import System
from kinemorph.words import did_you_mean, listed

WRITTEN_AT = (1980, 1, 1, 0, 0, 0)  # the time of all files in an archive, so that the same files give the same bytes
MEDIA = {
    ".zip": "application/zip",
    ".fmu": "application/zip",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".html": "text/html; charset=utf-8",
}
PICTURES: dict[str, str] = {
    "robot": "The robot at its initial configuration",
    "plan": "The plan of the modules from above",
    "equations": "The equations of motion of a small robot",
    "poles": "The poles about the equilibrium",
}
PICTURE_ENDINGS = ("png", "svg", "pdf")
SMALL_ROBOT = 4  # degrees of freedom up to which a picture of the equations is readable


class Exported(NamedTuple):
    """The files of an export, as bytes by name, and notes: what could not be carried over, and other remarks."""

    files: Mapping[str, bytes]
    notes: tuple[str, ...] = ()


def code_files(
    system: System,
    form: str = "c",
    functions: Sequence[str] = (),
    *,
    formulation: str = "newton_euler",
    precision: str = "float64",
    parameters: Any = "default",
    **options: Any,
) -> Exported:
    """Functions of a robot in one of the forms of `emitted_forms.FORMS`, such as C, MATLAB or LaTeX.

    `parameters` are those that stay symbols or inputs: "all", names, or None; "default" is the usual choice of the
    form. The other arguments are those of `emitted_forms.emitted`.
    """
    _check("form", form, [name for name, row in emitted_forms.FORMS.items() if row.write])
    chosen = emitted_forms.default_parameters(form) if parameters == "default" else parameters
    with _noted() as notes:
        data = emitted_forms.emitted(
            system, form, formulation, functions, precision=precision, parameters=chosen, **options
        )
        notes += emitted_forms.notes(system, data)
    return Exported({name: text.encode() for name, text in data["files"].items()}, tuple(notes))


def program_files(
    system: System, target: str, until: float | None = None, *, run: str | None = None, **options: Any
) -> Exported:
    """The program that simulates a model without Python, in a language of `programs.program_files.TARGETS`.

    `run` is the name of a run in the model file, by default that of `kinemorph simulate` without options; `until` is
    its end [s], if it shall be another one. `options` are further arguments of `programs.make_job`. FMUs are single
    files.
    """
    from kinemorph.programs.job import make_job
    from kinemorph.programs.program_files import ARCHIVES, TARGETS, write_program
    from kinemorph.simulation.planned_run import prepared_run

    _check("target", target, TARGETS)
    name = identifier(system.name)
    with _noted() as notes, tempfile.TemporaryDirectory(prefix="kinemorph_") as folder:
        prepared = prepared_run(system, run)
        notes += [f"{system.robot.name} {note.told()}" for note in prepared.notes]
        whole = replace(prepared.system, source="")
        job = make_job(whole, prepared.until if until is None else until, **prepared.arguments, **options)
        place = Path(folder) / (f"{name}.fmu" if target in ARCHIVES else "program")
        files = {path.name: path.read_bytes() for path in write_program(job, target, place)}
    return Exported(files, tuple(notes))


def model_files(system: System, format: str) -> Exported:
    """The files of a model in a format that can be written; the notes name data that the format cannot express."""
    from kinemorph.formats.loading import saved_texts

    _check("format", format, written_formats())
    with _noted() as notes:
        texts = saved_texts(system, format, identifier(system.name))
    return Exported({name: text.encode() for name, text in texts.items()}, tuple(notes))


def written_formats() -> dict[str, str]:
    """{name: title} of the formats in which models can be written."""
    return {name: row.title for name, row in FORMATS.items() if row.is_written}


def picture_files(system: System, picture: str = "robot", ending: str = "png") -> Exported:
    """A picture of a model as PNG, SVG or PDF; `picture` is a key of PICTURES."""
    _check("picture", picture, available_pictures(system))
    _check("ending", ending, PICTURE_ENDINGS)
    makers: dict[str, Callable[[System], Any]] = {
        "robot": _robot_picture,
        "plan": _plan_picture,
        "equations": _equations_picture,
        "poles": _poles_picture,
    }
    from kinemorph.display.canvas import save

    name = f"{identifier(system.name)}_{picture}.{ending}"
    with _noted() as notes, tempfile.TemporaryDirectory(prefix="kinemorph_") as folder:
        data = save(makers[picture](system), Path(folder) / name).read_bytes()
    return Exported({name: data}, tuple(notes))


def available_pictures(system: System) -> dict[str, str]:
    """{key: title} of the pictures that can be made of a model."""
    made = {"robot": True, "plan": system.assembly is not None, "poles": bool(system.robot.nv)}
    made["equations"] = 0 < system.robot.nv <= SMALL_ROBOT
    return {key: title for key, title in PICTURES.items() if made[key]}


def replay_files(system: System) -> Exported:
    """The replay page of a model, with a slider for every joint."""
    from kinemorph.display.replays.replay import replay

    name = f"{identifier(system.name)}.html"
    with _noted() as notes, tempfile.TemporaryDirectory(prefix="kinemorph_") as folder:
        replay(system, Path(folder) / name)
        data = (Path(folder) / name).read_bytes()
    return Exported({name: data}, tuple(notes))


def as_download(exported: Exported, stem: str) -> tuple[str, bytes, str]:
    """(file name, bytes, media type) of an export: its only file, or a zip archive of several."""
    if len(exported.files) == 1:
        ((name, data),) = exported.files.items()
    else:
        name, data = f"{identifier(stem)}.zip", archive(exported.files)
    return name, data, MEDIA.get(Path(name).suffix, "text/plain; charset=utf-8")


def archive(files: Mapping[str, bytes]) -> bytes:
    """A zip archive with these files; the same files give the same bytes."""
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in files.items():
            made.writestr(zipfile.ZipInfo(name, WRITTEN_AT), data, zipfile.ZIP_DEFLATED)
    return memory.getvalue()


@contextmanager
def _noted() -> Iterator[list[str]]:
    """Collects the warnings of what is done inside as notes, each once."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield notes
    notes[:] = dict.fromkeys([*notes, *(str(one.message) for one in caught)])


def _check(what: str, given: str, known: Sequence[str] | Mapping[str, Any]) -> None:
    """Raises UnsupportedError for a choice that does not exist."""
    if given not in known:
        raise UnsupportedError(
            f"{what} is '{given}'; expected one of: {listed(known, len(known))}.{did_you_mean(given, known)}"
        )


# ── pictures ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _robot_picture(system: System) -> Any:
    from kinemorph.display.painting.draw import draw

    return draw(system)


def _plan_picture(system: System) -> Any:
    from kinemorph.display.charts.draw_plan import draw_plan

    assert system.assembly is not None
    return draw_plan(system.assembly)


def _equations_picture(system: System) -> Any:
    from kinemorph.display.equations.equations_of_motion import equations_of_motion
    from kinemorph.display.equations.typesetting import draw_equations

    return draw_equations(equations_of_motion(system))


def _poles_picture(system: System) -> Any:
    from kinemorph.analysis.small_motions.poles import poles
    from kinemorph.display.charts.plot_poles import plot_poles

    return plot_poles(poles(system))
