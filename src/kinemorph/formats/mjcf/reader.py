"""Reads MJCF, the format of MuJoCo. MuJoCo compiles the file in a separate process, after its paths are checked.

MuJoCo's compiler applies defaults, classes, frames, replicates and meshes, and computes inertias from geoms. Its
compiled model is then read. q equals MuJoCo's qpos, number by number:

    T_parent_body = T_body J_1(q) J_2(q) ...

    slide  J = Trans(axis (q - q0))         hinge  J = Trans(p) Rot(axis, q - q0) Trans(-p)

where q0 is the `ref` of the joint and p its `pos`. A body with several joints becomes a chain of bodies: between two
joints is a massless body called `body~joint`. Coordinates of free joints are relative to the world, as in qpos; their
velocity here is a twist in the body frame, while MuJoCo has the linear velocity in the world frame. A free joint with
armature becomes a chain of three slides and a ball, because MuJoCo's armature acts along the world's axes. Parts that
cannot be expressed give one warning for every kind, with the number of parts that are left out.
"""

from __future__ import annotations

from kinemorph.formats.findings import Findings
from kinemorph.formats.mjcf.compiler import compile_bundle
from kinemorph.formats.mjcf.files import gather
from kinemorph.formats.mjcf.model import system_of
from kinemorph.formats.sources import Options, Source, unused_sidecar
from kinemorph.model.system import System


def read(source: Source, options: Options, findings: Findings) -> System | None:
    """The system of an MJCF file; None if it cannot be read, which is recorded as a finding."""
    bundle = gather(source, options, findings)
    if bundle is None:
        return None
    compiled = compile_bundle(bundle, findings)
    if compiled is None:
        return None
    if options.base is not None:
        problem = f"base is {options.base!r}, but has no effect: an MJCF file itself defines how bodies join the world"
        findings.warn("dropped", 0, "", problem, "Add a <freejoint/> to the root body, or remove its <freejoint/>.")
    unused_sidecar(options, "an MJCF file", findings)
    return system_of(compiled, bundle, findings, soft=options.soft_equalities)
