"""Compiles one MJCF text by MuJoCo in a separate process: this file is run as a script, never imported by the package.

If MuJoCo aborts, hangs or takes too much memory, only this process ends. The script reads a NumPy archive from stdin
(the text and the files that it names) and writes one to stdout: arrays of the compiled model, or a message. It imports
nothing of the package, so that it can run in isolated mode.

Arguments: the largest memory [byte], the largest processor time [s], the largest number of bodies, and the folder in
which MuJoCo is installed.
"""

from __future__ import annotations

import io
import json
import os
import sys
from typing import Any

FIELDS = [
    "body_parentid",
    "body_pos",
    "body_quat",
    "body_ipos",
    "body_iquat",
    "body_mass",
    "body_inertia",
    "body_jntadr",
    "body_jntnum",
    "body_gravcomp",
    "body_mocapid",
    "jnt_type",
    "jnt_bodyid",
    "jnt_actgravcomp",
    "jnt_qposadr",
    "jnt_dofadr",
    "jnt_pos",
    "jnt_axis",
    "jnt_limited",
    "jnt_range",
    "jnt_stiffness",
    "jnt_stiffnesspoly",
    "jnt_springyield",
    "jnt_actfrclimited",
    "jnt_actfrcrange",
    "dof_armature",
    "dof_damping",
    "dof_dampingpoly",
    "dof_frictionloss",
    "qpos0",
    "qpos_spring",
    "eq_type",
    "eq_obj1id",
    "eq_obj2id",
    "eq_objtype",
    "eq_data",
    "eq_active0",
    "actuator_trntype",
    "actuator_trnid",
    "actuator_gear",
    "actuator_dyntype",
    "actuator_gaintype",
    "actuator_biastype",
    "actuator_gainprm",
    "actuator_biasprm",
    "actuator_ctrllimited",
    "actuator_ctrlrange",
    "actuator_forcelimited",
    "actuator_forcerange",
    "actuator_dynprm",
    "actuator_actlimited",
    "actuator_actrange",
    "actuator_plugin",
    "actuator_ctrlnum",
    "actuator_outnum",
    "actuator_armature",
    "actuator_damping",
    "actuator_dampingpoly",
    "actuator_delay",
    "actuator_actearly",
    "actuator_group",
    "actuator_ctrladr",
    "actuator_actadr",
    "key_time",
    "key_qpos",
    "key_qvel",
    "key_act",
    "key_ctrl",
    "key_mpos",
    "key_mquat",
    "tendon_type",
    "tendon_adr",
    "tendon_num",
    "tendon_limited",
    "tendon_actfrclimited",
    "tendon_range",
    "tendon_actfrcrange",
    "tendon_stiffness",
    "tendon_stiffnesspoly",
    "tendon_damping",
    "tendon_dampingpoly",
    "tendon_armature",
    "tendon_frictionloss",
    "tendon_lengthspring",
    "tendon_springyield",
    "wrap_objid",
    "wrap_prm",
    "sensor_type",
    "sensor_objtype",
    "sensor_objid",
    "sensor_refid",
    "sensor_cutoff",
    "sensor_delay",
    "sensor_interval",
    "tendon_length0",
    "geom_type",
    "geom_bodyid",
    "geom_contype",
    "geom_conaffinity",
    "geom_group",
    "geom_size",
    "geom_pos",
    "geom_quat",
    "geom_rgba",
    "geom_matid",
    "geom_dataid",
    "geom_fluid",
    "geom_condim",
    "geom_priority",
    "geom_friction",
    "geom_solmix",
    "geom_solref",
    "geom_solimp",
    "geom_margin",
    "geom_gap",
    "body_weldid",
    "body_invweight0",
    "exclude_signature",
    "pair_geom1",
    "pair_geom2",
    "pair_dim",
    "pair_friction",
    "pair_solref",
    "pair_solreffriction",
    "pair_solimp",
    "pair_margin",
    "pair_gap",
    "jnt_margin",
    "jnt_solref",
    "jnt_solimp",
    "tendon_margin",
    "tendon_solref_lim",
    "tendon_solimp_lim",
    "tendon_solref_fri",
    "tendon_solimp_fri",
    "dof_solref",
    "dof_solimp",
    "eq_solref",
    "eq_solimp",
    "hfield_size",
    "hfield_nrow",
    "hfield_ncol",
    "mat_rgba",
    "site_bodyid",
    "site_pos",
    "site_quat",
    "mesh_pathadr",
    "mesh_scale",
    "mesh_pos",
    "mesh_quat",
    "mesh_vertnum",
]
NAMES = ["body", "jnt", "site", "geom", "eq", "actuator", "mesh", "tendon", "sensor", "key"]
COUNTS = [
    "nbody",
    "nq",
    "nv",
    "ntendon",
    "nsensor",
    "nflex",
    "nskin",
    "nplugin",
    "nkey",
    "ngravcomp",
    "nmocap",
]
SPRINGS = [f"{part}_stiffness{poly}" for part in ("jnt", "tendon") for poly in ("", "poly")]
DAMPERS = [f"{part}_damping{poly}" for part in ("dof", "tendon", "actuator") for poly in ("", "poly")]
SMALL = 4000  # vertices: only meshes of at most this size are returned
LARGE = 4_000_000  # heights: only height fields of at most this size are returned


def compiled(text: bytes, files: dict[str, bytes], most: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """(plain data, arrays) of the compiled model; ({"error": message}, {}) if it cannot be compiled.

    `files` are the contents of files by name; `most` is the largest number of bodies.
    """
    import mujoco
    import numpy as np

    try:
        model = mujoco.MjModel.from_xml_string(text.decode(), files)
    except (ValueError, RuntimeError, mujoco.FatalError, MemoryError) as error:
        return {"error": str(error) or type(error).__name__}, {}
    if model.nbody > most:
        return {"error": f"the compiled model has {model.nbody - 1} bodies, expected at most {most}"}, {}
    arrays = {name: np.asarray(getattr(model, name)) for name in FIELDS}
    for names, first in ((("actuator_gear",), "outadr"), (("actuator_ctrllimited", "actuator_ctrlrange"), "ctrladr")):
        for name in names:  # rows of outputs or controls, of which an actuator can have several: its first row is kept
            arrays[name] = arrays[name][getattr(model, f"actuator_{first}")]
    switch_off(model.opt, arrays, mujoco.mjtDisableBit)
    elliptic = model.opt.cone == mujoco.mjtCone.mjCONE_ELLIPTIC
    arrays["option"] = np.array([model.opt.timestep, elliptic, model.opt.impratio])
    arrays["overridden"] = np.array(bool(model.opt.enableflags & mujoco.mjtEnableBit.mjENBL_OVERRIDE))
    arrays["unfiltered"] = np.array(bool(model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_FILTERPARENT))
    for index in range(model.nhfield):
        rows, columns = int(model.hfield_nrow[index]), int(model.hfield_ncol[index])
        begin = int(model.hfield_adr[index])
        if rows * columns <= LARGE:
            heights = np.array(model.hfield_data[begin : begin + rows * columns], dtype=float)
            arrays[f"hfield{index}"] = heights.reshape(rows, columns)
    arrays["wind"] = np.array([*model.opt.wind, model.opt.density, model.opt.viscosity])
    text_of = model.names.split(b"\0")
    starts, place = {}, 0
    for part in text_of:
        starts[place] = part.decode(errors="replace")
        place += len(part) + 1
    data: dict[str, Any] = {
        "names": {kind: [starts.get(int(at), "") for at in getattr(model, f"name_{kind}adr")] for kind in NAMES},
        "counts": {name: int(getattr(model, name)) for name in COUNTS},
        "model": starts.get(0, ""),
        "paths": [
            "" if at < 0 else model.paths[at:].split(b"\0")[0].decode(errors="replace") for at in model.mesh_pathadr
        ],
    }
    try:  # a compiled model does not say how its meshes were read
        meshes = mujoco.MjSpec.from_string(text.decode(), assets=files).meshes
    except ValueError:  # this reader of MuJoCo finds no sub-models in memory
        meshes = []
    data["meshes"] = {mesh.name: [int(mesh.inertia), int(mesh.maxhullvert)] for mesh in meshes}
    for index in range(model.nmesh):
        if model.mesh_vertnum[index] <= SMALL and model.mesh_facenum[index] <= 2 * SMALL:
            first, count = model.mesh_vertadr[index], model.mesh_vertnum[index]
            arrays[f"vertices{index}"] = np.array(model.mesh_vert[first : first + count], dtype=float)
            first, count = model.mesh_faceadr[index], model.mesh_facenum[index]
            arrays[f"faces{index}"] = np.array(model.mesh_face[first : first + count])
    return data, arrays


def switch_off(option: Any, arrays: dict[str, Any], bits: Any) -> None:
    """Sets numbers to 0 whose effect the flags in <option> disable. Adds "gravity" (3,), and "actuator_off" (nu,)."""
    flags = int(option.disableflags)
    none = flags & bits.mjDSBL_CONSTRAINT
    for off, names in (
        (flags & bits.mjDSBL_SPRING, SPRINGS),
        (flags & bits.mjDSBL_DAMPER, DAMPERS),
        (flags & bits.mjDSBL_CLAMPCTRL, ("actuator_ctrllimited",)),
        (none or flags & bits.mjDSBL_EQUALITY, ("eq_active0",)),
        (none or flags & bits.mjDSBL_FRICTIONLOSS, ("dof_frictionloss", "tendon_frictionloss")),
        (none or flags & bits.mjDSBL_LIMIT, ("jnt_limited", "tendon_limited")),
        (none or flags & bits.mjDSBL_CONTACT, ("geom_contype", "geom_conaffinity", "pair_dim")),
    ):
        for name in names if off else ():
            arrays[name] = 0 * arrays[name]
    arrays["gravity"] = (0.0 if flags & bits.mjDSBL_GRAVITY else 1.0) * option.gravity
    group = arrays["actuator_group"]
    switched = (group >= 0) & (group <= 30) & ((int(option.disableactuator) >> group.clip(0, 30)) & 1 != 0)
    arrays["actuator_off"] = switched | bool(flags & bits.mjDSBL_ACTUATION)


def confine(memory: int, seconds: int) -> None:
    """Limits memory [byte] and processor time [s] of this process, if the operating system can."""
    try:
        import resource
    except ImportError:
        return
    for kind, limit in (("RLIMIT_AS", memory), ("RLIMIT_CPU", seconds), ("RLIMIT_CORE", 0), ("RLIMIT_FSIZE", 1 << 20)):
        try:
            resource.setrlimit(getattr(resource, kind), (limit, limit + 1))  # SIGXCPU at the limit, SIGKILL 1 s later
        except (ValueError, OSError, AttributeError):
            continue


def prepare(folder: str) -> None:
    """Imports MuJoCo, which is installed in `folder`, and NumPy."""
    sys.path.append(folder)
    import mujoco
    import numpy

    assert mujoco and numpy


def main(memory: str, seconds: str, most: str, folder: str) -> None:
    """Reads the archive from stdin, compiles the model, and writes the archive with the result to stdout."""
    confine(int(memory), int(seconds))
    prepare(folder)
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # messages that MuJoCo prints go to stderr, so that stdout has only the answer
    import numpy as np

    with np.load(io.BytesIO(sys.stdin.buffer.read()), allow_pickle=False) as given:
        files = {name.removeprefix("file:"): given[name].tobytes() for name in given.files if name.startswith("file:")}
        data, arrays = compiled(given["text"].tobytes(), files, int(most))
    packed = io.BytesIO()
    np.savez(packed, data=np.frombuffer(json.dumps(data).encode(), dtype=np.uint8), **arrays)
    answer.write(packed.getvalue())
    answer.flush()


if __name__ == "__main__":
    main(*sys.argv[1:5])
