"""Reads SDF 1.2 to 1.12, the format of Gazebo. Up to 1.4 its parts that are read here have the same meaning.

Poses of links and joints may be relative to any frame (`frames`); models may be in other models or other files
(`models`). A link without a parent joint is free; a static model is fixed to the world; a joint whose child already has
a parent joint closes a loop. If the file has one model, parts have their own names; if it has several, they are called
`model::link`. Parts of nested models are always called `nested::link`.

SDF has defaults for numbers that a file does not give: 1 kg and 1 kg m^2 for a link, gravity (0, 0, -9.8) in a <world>.
A warning says when they are used. A model without a <world> has Kinemorph's default gravity. A sidecar adds data that
SDF cannot express. Elements and attributes that are left out, or that SDF does not have, give a warning.
"""

from __future__ import annotations

from collections.abc import Iterator

from kinemorph.formats.findings import Findings
from kinemorph.formats.sdf.assembly import Assembly
from kinemorph.formats.sdf.files import ROOTS, File, version_of
from kinemorph.formats.sdf.frames import Frames
from kinemorph.formats.sdf.models import Model, Models
from kinemorph.formats.sdf.values import SdfValues, text_of
from kinemorph.formats.sources import Options, Source, rooted
from kinemorph.formats.xml_documents import Node, drake_child, line_of, parse
from kinemorph.formats.xml_values import At, Tally
from kinemorph.model.system import System
from kinemorph.words import did_you_mean

# what a model or world may contain; True for elements that affect the motion but are left out, with a warning
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
# what the parts of a model may contain; a misspelled element would be read as missing
PARTS = {
    "link": (
        "pose inertial collision visual sensor projector audio_sink audio_source battery light particle_emitter "
        "gravity enable_wind self_collide kinematic must_be_base_link velocity_decay frame plugin"
    ),
    "joint": (
        "parent child pose axis axis2 physics sensor gearbox_ratio gearbox_reference_body thread_pitch "
        "screw_thread_pitch frame plugin"
    ),
    "axis": "xyz limit dynamics use_parent_model_frame initial_position mimic",
    "limit": "lower upper effort velocity stiffness dissipation",
    "dynamics": "damping friction spring_reference spring_stiffness",
    "inertial": "mass pose inertia density auto_inertia_params fluid_added_mass frame",
    "inertia": "ixx iyy izz ixy ixz iyz",
    "mimic": "multiplier offset reference",
}
SWITCHED = ("self_collide", "enable_wind")  # switches of a model that affect its motion if they are on
HARMLESS = ("provide_feedback", "implicit_spring_damper", "must_be_loop_joint")  # parts of <physics> in a joint
KNOWN = {place: frozenset(names.split()) for place, names in PARTS.items()}
KNOWN["axis2"] = KNOWN["axis"]
ATTRIBUTES = {
    "pose": ("relative_to", "frame", "rotation_format", "degrees"),
    "xyz": ("expressed_in",),
    "inertial": ("auto",),
    "mimic": ("joint", "axis"),
}


def read(source: Source, options: Options, findings: Findings) -> System | None:
    """The system of an SDF file; None if it cannot be read, which is recorded as a finding."""
    root = parse(source, findings)
    if root is None:
        return None
    options, values = rooted(options, source), SdfValues(findings)
    if root.tag not in ROOTS:
        problem = f"the root element is <{str(root.tag)[:40]}>, expected <sdf>"
        At(findings, root, "").error("structure", problem, 'Put the model into <sdf version="1.9">.')
        return None
    main = File(source, values, version_of(root, values))
    worlds = root.findall("world")
    if len(worlds) > 1 or (worlds and root.find("model") is not None):
        line = line_of(worlds[-1])
        problem = "the file has several worlds, or a world and a model, expected one world or models only"
        findings.error("structure", line, "sdf", problem, "Keep one world.")
        return None
    top = worlds[0] if worlds else root
    frames, tally = Frames(), Tally()
    models = Models(main, options, frames, tally)
    models.open(top)
    frames.attach()
    frames.settle()
    _warn_of_other_parts(models, tally)
    reader = Assembly(models, options, findings, frames, tally)
    system = reader.system(top, bool(worlds))
    tally.report()
    return None if findings.failed else system


# ── other parts ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _warn_of_other_parts(models: Models, tally: Tally) -> None:
    """Warns about parts of models and worlds, and of their links and joints, that are left out."""
    for model in models.opened:
        for node in model.node.iterchildren("*"):
            tag = str(node.tag)
            if _prefixed(tag) or OTHER_PARTS.get(tag) is not False:
                what = f"{_written(tag)} in a model or world has no effect"
                known = _prefixed(tag) or tag in OTHER_PARTS
                _warn(what, "dropped" if known else "unknown", "", node, model, model.element, tally)
        for node in model.node.iterchildren(*SWITCHED):
            if text_of(node).lower() in ("1", "true"):
                what = f"<{node.tag}>true</{node.tag}> of a model has no effect"
                _warn(what, "dropped", "", node, model, model.element, tally)
        for part in model.node.iterchildren("link", "joint"):
            element = f"{part.tag} '{part.get('name', '')}'"
            for node, what in _idle(part):
                _warn(f"{what} has no effect", "dropped", "", node, model, element, tally)
            for node, place in _strangers(part):
                tag = str(node.tag)
                rule = "dropped" if _prefixed(tag) else "unknown"
                hint = did_you_mean(tag, sorted(KNOWN[place])).strip()
                _warn(f"{_written(tag)} in <{place}> has no effect", rule, hint, node, model, element, tally)
            for node in part.iter(*ATTRIBUTES):
                for name in node.attrib:
                    if name not in ATTRIBUTES[node.tag] and not _prefixed(name):
                        hint = did_you_mean(name, ATTRIBUTES[node.tag]).strip()
                        what = f"attribute '{name[:40]}' of <{node.tag}> has no effect"
                        _warn(what, "unknown", hint, node, model, element, tally)


def _idle(part: Node) -> Iterator[tuple[Node, str]]:
    """The sensors of a link or joint, and the numbers of ODE in a joint, which have no effect; each with its name."""
    for sensor in part.iterchildren("sensor"):
        yield sensor, f"a sensor of type '{(sensor.get('type') or '')[:40]}'"
    for node in part.iterfind("physics//*") if part.tag == "joint" else ():
        if not len(node) and node.tag not in HARMLESS:
            yield node, f"<{str(node.tag)[:40]}> in <physics>"


def _prefixed(name: str) -> bool:
    """Whether the name of an element or attribute has a prefix, declared or not: it belongs to another program."""
    return name.startswith("{") or ":" in name


def _strangers(part: Node) -> Iterator[tuple[Node, str]]:
    """The elements inside a link or joint that SDF does not have there, with the tag of their parent."""
    ahead = [part]
    while ahead:
        node = ahead.pop()
        known = KNOWN[node.tag]
        for child in node.iterchildren("*"):
            if child.tag not in known and not (node.tag == "joint" and child in _rotor(node)):
                yield child, node.tag
            elif child.tag in KNOWN:
                ahead.append(child)


def _rotor(joint: Node) -> list[Node | None]:
    """The tags of Drake for the rotor of a joint, which are read."""
    return [drake_child(joint, name) for name in ("rotor_inertia", "gear_ratio")]


def _warn(what: str, rule: str, hint: str, node: Node, model: Model, element: str, tally: Tally) -> None:
    """Collects a warning; `hint` is its remedy if there is one."""
    remedy = hint or "Remove it, or expect the model to move without it."
    tally.add(model.file.values.at(node, element), rule, what, remedy)


def _written(tag: str) -> str:
    """A tag as messages write it, with its XML namespace if it has one."""
    space, _, local = tag.rpartition("}")
    return f"<{local[:40]}> of the namespace '{space.strip('{}')[:60]}'" if space else f"<{tag[:40]}>"
