"""Sidecars: TOML files with data that the format of a model cannot express, such as the joints that close loops.

The sidecar of `arm.urdf` is `arm.sidecar.toml` in the same folder. It may have the tables of a model file: joints,
frames, couplings, elements, settings, gravity, bodies, parameters. They are added to the model and checked with it;
findings about them name the sidecar and its lines. A table of a body of the model file that has only shapes, and a
table of a joint of the model file without a kind, replace what that file says.
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
from kinemorph.formats.toml.writer import Amended, written_sidecar
from kinemorph.formats.write_text import write_text
from kinemorph.model.body import Body
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import evaluate, evaluate_all, nominal_part
from kinemorph.model.robot import Coupling, Frame
from kinemorph.model.system import Element, System
from kinemorph.model.topology import WORLD
from kinemorph.words import quoted

READERS = (".urdf", ".xacro", ".sdf", ".world")  # endings of files that are read with the sidecar beside them


def sidecar_path(model: str | Path) -> Path:
    """The path of the sidecar of a model file: `<stem>.sidecar.toml` in the same folder."""
    return Path(model).with_name(sidecar_name(str(model)))


def extend(
    blueprint: Blueprint, source: Source, options: Options, findings: Findings, *, roots: Sequence[str] = ()
) -> bool:
    """Adds the parts of a model's sidecar to its blueprint; False if there is none. A sidecar that the options name
    must exist.

    `roots` are the names of joints that the format itself does not have, by which links without a parent joint are
    connected to the world. A joint of the sidecar between the world and such a link replaces it.
    """
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
        for name in roots:
            body = blueprint.ends[name][1]
            if any(ends == (WORLD, body) for other, ends in blueprint.ends.items() if other != name):
                blueprint.withdraw(name)
    return True


def _tell_of_others(path: Path, findings: Findings) -> None:
    """Warns that a sidecar is replaced which a file of another format reads, too: `arm.sdf` beside `arm.urdf`."""
    own, stem = Path(findings.file).name, path.name.removesuffix(".sidecar.toml")
    others = [f"{stem}{ending}" for ending in READERS if f"{stem}{ending}" != own]
    beside = [name for name in others if path.with_name(name).is_file()]
    if beside and path.is_file():
        problem = f"the sidecar '{path.name}' is replaced, which {quoted(beside)} had and now reads in its new form"
        remedy = f"Write the models under different names, {quoted(beside)} again, too."
        findings.warn("file", 0, "", problem, remedy)


def write_sidecar(
    system: System,
    joints: Sequence[Joint],
    path: Path,
    findings: Findings,
    *,
    frames: Sequence[Frame] = (),
    couplings: Sequence[Coupling] = (),
    elements: Sequence[Element] = (),
    looks: Amended[Body] = (),
    numbers: Amended[Joint] = (),
    gravity: bool = True,
    settings: bool = True,
) -> Path:
    """Writes a sidecar with the given parts, and with gravity and settings if they are not the defaults; returns its
    path.

    `looks` and `numbers` are bodies and joints of the model file, each with the keys that the sidecar gives. Parameters
    are replaced by their nominal values, as in the model file.
    """
    _tell_of_others(path, findings)
    view = findings.within(str(path))
    robot = replace(
        system.robot,
        gravity=evaluate_all(system.robot.gravity),
        frames=tuple(replace(frame, placement=_nominal(frame.placement)) for frame in frames),
        couplings=tuple(
            replace(c, multiplier=float(evaluate(c.multiplier)), offset=float(evaluate(c.offset))) for c in couplings
        ),
    )
    whole = replace(system, robot=robot, elements=tuple(map(nominal_part, elements)))
    text = written_sidecar(
        whole,
        [nominal_joint(joint) for joint in joints],
        view,
        gravity=gravity,
        settings=settings,
        looks=[(nominal_part(body), keys) for body, keys in looks],
        numbers=[(nominal_joint(joint), keys) for joint, keys in numbers],
    )
    write_text(path, text, view)
    return path


def nominal_joint(joint: Joint) -> Joint:
    """A joint with the nominal values of its parameters."""
    numbers: dict[str, Any] = {key: evaluate_all(getattr(joint, key)) for key in ("damping", "friction", "armature")}
    return replace(
        joint,
        placement=_nominal(joint.placement),
        child_placement=_nominal(joint.child_placement),
        pitch=float(evaluate(joint.pitch)),
        **numbers,
    )


def _nominal(pose: Pose) -> Pose:
    """A pose with the nominal values of its parameters."""
    nominal: Pose = evaluate_all(pose)
    return nominal
