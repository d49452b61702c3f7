"""SDF 1.4 to 1.12: models as Gazebo and Drake write them.

Poses of links and joints are relative to any frame (`frames`), models lie in models or in other files
(`models`). A link that no joint carries is free; a static model is fixed to the world; a joint whose child hangs
already closes a loop. With one model in the file, parts have their own names; with several, they are `model::link`.
Parts of nested models are `nested::link` in either case.

Where a file leaves a number out, SDF's default counts: 1 kg and 1 kg m^2 for a link, gravity (0, 0, -9.8) in a <world>;
a warning says so. A model that stands alone has our own gravity. A sidecar adds data that SDF cannot express.
"""

from __future__ import annotations

from kinemorph.formats.findings import Findings
from kinemorph.formats.sdf.assembly import Assembly
from kinemorph.formats.sdf.files import File, version_of
from kinemorph.formats.sdf.frames import Frames
from kinemorph.formats.sdf.models import Models
from kinemorph.formats.sdf.parts import tell_other_parts
from kinemorph.formats.sdf.values import SdfValues
from kinemorph.formats.sources import Options, Source
from kinemorph.formats.xml_documents import line_of, parse
from kinemorph.formats.xml_values import At, Tally
from kinemorph.model.system import System


def read(source: Source, options: Options, findings: Findings) -> System | None:
    """The system of an SDF file."""
    root = parse(source, findings)
    if root is None:
        return None
    values = SdfValues(findings)
    if root.tag != "sdf":
        problem = f"the root is <{str(root.tag)[:40]}>, expected <sdf>"
        At(findings, root, "").error("structure", problem, "Wrap it in <sdf>.")
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
    tell_other_parts(models, tally)
    reader = Assembly(models, options, findings, frames, tally)
    system = reader.system(top, bool(worlds))
    tally.report()
    return None if findings.failed else system
