"""SDF 1.4 to 1.12: models as Gazebo and Drake write them.

Poses of links and joints are told against any frame (`sdf_frames`), models lie in models or in other files
(`sdf_models`). A link that no joint carries is free; a static model is fixed to the world; a joint whose child hangs
already closes a loop. With one model in the file, parts have their own names; with several, they are `model::link`.
Parts of nested models are `nested::link` in either case.

Where a file leaves a number out, SDF's default counts: 1 kg and 1 kg m^2 for a link, gravity (0, 0, -9.8) in a <world>;
a warning says so. A model that stands alone has our own gravity. A sidecar adds what SDF cannot say.
"""

from __future__ import annotations

from kinemorph.model.formats.findings import Findings
from kinemorph.model.formats.sdf_assembly import Assembly
from kinemorph.model.formats.sdf_files import File, version_of
from kinemorph.model.formats.sdf_frames import Frames
from kinemorph.model.formats.sdf_models import Models
from kinemorph.model.formats.sdf_values import SdfValues, Tally
from kinemorph.model.formats.sources import Options, Source
from kinemorph.model.formats.xml_documents import line_of, parse
from kinemorph.model.system import System

# what a model or world may hold besides what is read; True: it acts on the motion and is reported
OTHER_PARTS = {
    "plugin": True,
    "gripper": True,
    "actor": True,
    "population": True,
    "state": True,
    "wind": True,
    **dict.fromkeys(
        [
            "pose",
            "static",
            "self_collide",
            "allow_auto_disable",
            "enable_wind",
            "link",
            "joint",
            "frame",
            "model",
            "include",
            "light",
            "physics",
            "scene",
            "gui",
            "atmosphere",
            "magnetic_field",
            "spherical_coordinates",
            "road",
            "audio",
            "gravity",
            "sensor",
            "world",
            "model_config",
        ],
        False,
    ),
}


def read(source: Source, options: Options, findings: Findings) -> System | None:
    """The system of an SDF file."""
    root = parse(source, findings)
    if root is None:
        return None
    values = SdfValues(findings)
    if root.tag != "sdf":
        findings.error(
            "structure", line_of(root), "", f"the root is <{str(root.tag)[:40]}>, expected <sdf>", "Wrap it in <sdf>."
        )
        return None
    main = File(source, values, version_of(root, values))
    worlds = root.findall("world")
    if len(worlds) > 1 or (worlds and root.find("model") is not None):
        line = line_of(worlds[-1])
        findings.error("structure", line, "sdf", "there are several worlds, expected one", "Keep one world.")
        return None
    top = worlds[0] if worlds else root
    frames, tally = Frames(), Tally()
    models = Models(main, options, frames, tally)
    models.open(top)
    frames.attach()
    frames.settle()
    _other_parts(models, tally)
    reader = Assembly(models, options, findings, frames, tally)
    system = reader.system(top, bool(worlds))
    tally.tell()
    return None if findings.failed else system


def _other_parts(models: Models, tally: Tally) -> None:
    """Says what is left out of models and worlds."""
    for model in models.opened:
        for node in model.node.iterchildren("*"):
            tag = str(node.tag)
            space, _, local = tag.rpartition("}")
            if not space and OTHER_PARTS.get(tag) is False:
                continue
            known = space or tag in OTHER_PARTS
            what = f"<{local[:40]}> of {space.strip('{}')[:60]}" if space else f"<{tag[:40]}>"
            tally.add(
                model.file.findings,
                "dropped" if known else "unknown",
                f"{what} in a model or world is not used",
                "Expect the model to move without it.",
                line_of(node),
                model.element,
            )
