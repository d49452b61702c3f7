"""MJCF, the format of MuJoCo: compiled by MuJoCo itself, in a process of its own, after our own check of its paths.

Defaults, classes, frames, replicates, inertias from geoms, meshes: MuJoCo's compiler knows what a file means, so what
is read is its compiled model. q equals MuJoCo's qpos, number by number:

    T_parent_body = T_body J_1(q) J_2(q) ...
    slide  J = Trans(axis (q - q0))         hinge  J = Trans(p) Rot(axis, q - q0) Trans(-p)

with q0 the `ref` of the joint. A body with several joints becomes a chain: between two joints stands a body without
mass called `body~joint`. Free joints are absolute, as in qpos; their v is a body twist here and not MuJoCo's mixture.
A free joint with armature is a chain too, of three slides and a ball: MuJoCo's armature acts along the world's axes.

What has no counterpart is named in a warning, once for every kind, with the number of parts that are left out.
"""

from __future__ import annotations

from kinemorph.formats.findings import Findings
from kinemorph.formats.mjcf.compiler import compile_bundle
from kinemorph.formats.mjcf.files import gather
from kinemorph.formats.mjcf.model import system_of
from kinemorph.formats.sources import Options, Source, unused_sidecar
from kinemorph.model.system import System


def read(source: Source, options: Options, findings: Findings) -> System | None:
    """The system of an MJCF file."""
    bundle = gather(source, options, findings)
    if bundle is None:
        return None
    compiled = compile_bundle(bundle, findings)
    if compiled is None:
        return None
    if options.base is not None:
        problem = f"base is {options.base!r}, but an MJCF file says itself how its bodies hang on the world"
        findings.warn("dropped", 0, "", problem, "Write a <freejoint/> into the body, or remove it.")
    unused_sidecar(options, "an MJCF file", findings)
    return system_of(compiled, bundle, findings)
