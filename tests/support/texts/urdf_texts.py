"""URDF texts out of a few words, and what the reader makes of them: a system, or one finding."""

from __future__ import annotations

from kinemorph.formats.findings import Findings
from kinemorph.formats.sources import Options, Source
from kinemorph.formats.urdf import reader as urdf

MASS = '<inertial><mass value="2"/><inertia ixx=".1" ixy="0" ixz="0" iyy=".1" iyz="0" izz=".1"/></inertial>'
LIMIT = '<limit lower="-1" upper="1" effort="5" velocity="2"/>'


def link(name, inside=MASS):
    return f'<link name="{name}">\n{inside}</link>\n'


def joint(name, kind, parent, child, inside=""):
    if kind not in ("fixed", "floating", "spherical", "ball") and "<axis" not in inside:
        inside = f'<axis xyz="1 0 0"/>{inside}'
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>\n'


def robot(*parts):
    return '<robot name="r">\n' + "".join(parts) + "</robot>"


def arm(inside=LIMIT, kind="revolute"):
    return robot(link("a"), link("b"), joint("j", kind, "a", "b", inside))


def read(text, **options):
    findings = Findings("r.urdf")
    system = urdf.read(Source("r.urdf", text.encode()), Options(**options), findings)
    return system, findings


def sound(text, **options):
    system, findings = read(text, **options)
    assert system is not None and not findings.found, "\n".join(map(str, findings.found))
    return system


def only(text, severity, rule):
    """The one finding of a file."""
    system, findings = read(text)
    assert (system is None) == (severity == "error")
    (finding,) = findings.found
    assert (finding.severity, finding.rule) == (severity, rule), str(finding)
    return finding


CHAIN = (link("a"), link("b"), link("c"), joint("j", "continuous", "a", "b"), joint("k", "continuous", "b", "c"))
