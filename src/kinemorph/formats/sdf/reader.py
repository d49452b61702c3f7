"""Reads SDF 1.2 to 1.12, the format of Gazebo. Up to 1.4 its parts that are read here have the same meaning.

Poses of links and joints may be relative to any frame (`frames`); models may be in other models or other files
(`models`). A link without a parent joint is free; a static model is fixed to the world; a joint whose child already has
a parent joint closes a loop. If the file has one model, parts have their own names; if it has several, they are called
`model::link`. Parts of nested models are always called `nested::link`.

SDF has defaults for numbers that a file does not give: 1 kg and 1 kg m^2 for a link, gravity (0, 0, -9.8) in a <world>.
A warning says when they are used. A model without a <world> has Kinemorph's default gravity. A sidecar adds data that
SDF cannot express.
"""

from __future__ import annotations

from kinemorph.formats.findings import Findings
from kinemorph.formats.sdf.assembly import Assembly
from kinemorph.formats.sdf.files import ROOTS, File, version_of
from kinemorph.formats.sdf.frames import Frames
from kinemorph.formats.sdf.models import Models
from kinemorph.formats.sdf.parts import warn_of_other_parts
from kinemorph.formats.sdf.values import SdfValues
from kinemorph.formats.sources import Options, Source, rooted
from kinemorph.formats.xml_documents import line_of, parse
from kinemorph.formats.xml_values import At, Tally
from kinemorph.model.system import System


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
    warn_of_other_parts(models, tally)
    reader = Assembly(models, options, findings, frames, tally)
    system = reader.system(top, bool(worlds))
    tally.report()
    return None if findings.failed else system
