"""Sidecars: a TOML file beside a model that says what its own format cannot, such as the joints that close loops.

`arm.sidecar.toml` stands beside `arm.urdf` and has the tables of a model file: joints, frames, couplings, elements,
settings, gravity, bodies, parameters. They are added to the model and checked with it; what is wrong with
them is reported with the file name and lines of the sidecar.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from kinemorph.algebra.groups import Pose
from kinemorph.formats.blueprint import Blueprint
from kinemorph.formats.findings import Findings
from kinemorph.formats.sources import Options, Source, read_file, sidecar_name
from kinemorph.formats.toml import fields as rows
from kinemorph.formats.toml.documents import parse
from kinemorph.formats.toml.parts import Parts
from kinemorph.formats.toml.writer import written_sidecar
from kinemorph.formats.write_text import write_text
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import evaluate, evaluate_all, nominal_part
from kinemorph.model.robot import Coupling, Frame
from kinemorph.model.system import Element, System


def sidecar_path(model: str | Path) -> Path:
    """Where the sidecar of a model file lies: `<stem>.sidecar.toml` beside it."""
    return Path(model).with_name(sidecar_name(str(model)))


def extend(blueprint: Blueprint, source: Source, options: Options, findings: Findings) -> bool:
    """Adds what the sidecar of a model says to its blueprint; False where there is none. A named one must exist."""
    path = options.sidecar
    if path is None:
        if source.folder is None:
            return False
        path = source.folder / sidecar_name(source.name)
        if not path.is_file():
            return False
    view = findings.within(str(path))
    text = read_file(path, view)
    document = None if text is None else parse(text, view)
    if text is None or document is None:
        return False
    parts = Parts(document, text, options, view)
    if parts.checked(without=rows.NOT_IN_SIDECARS):
        blueprint.findings, before = view, blueprint.findings
        parts.parameters()
        blueprint.builder.gravity = parts.top().get("gravity", blueprint.builder.gravity)
        parts.declare(blueprint)
        blueprint.findings = before
    return True


def write_sidecar(
    system: System,
    joints: Sequence[Joint],
    path: Path,
    findings: Findings,
    *,
    frames: Sequence[Frame] = (),
    couplings: Sequence[Coupling] = (),
    elements: Sequence[Element] = (),
    gravity: bool = True,
    settings: bool = True,
) -> Path:
    """Writes the parts given, with gravity and settings where they are not the usual ones, and gives the path.

    Parameters stand at their nominal values, as the model beside it has them.
    """
    view = findings.within(str(path))
    robot = replace(
        system.robot,
        gravity=evaluate_all(system.robot.gravity),
        frames=tuple(replace(frame, placement=_nominal(frame.placement)) for frame in frames),
        couplings=tuple(
            replace(c, multiplier=float(evaluate(c.multiplier)), offset=float(evaluate(c.offset))) for c in couplings
        ),
    )
    numbers = [_nominal_joint(joint) for joint in joints]
    whole = replace(system, robot=robot, elements=tuple(map(nominal_part, elements)))
    write_text(path, written_sidecar(whole, numbers, view, gravity=gravity, settings=settings), view)
    return path


def _nominal_joint(joint: Joint) -> Joint:
    numbers: dict[str, Any] = {key: evaluate_all(getattr(joint, key)) for key in ("damping", "friction", "armature")}
    return replace(
        joint,
        placement=_nominal(joint.placement),
        child_placement=_nominal(joint.child_placement),
        pitch=float(evaluate(joint.pitch)),
        **numbers,
    )


def _nominal(pose: Pose) -> Pose:
    nominal: Pose = evaluate_all(pose)
    return nominal
