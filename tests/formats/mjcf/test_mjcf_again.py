"""MJCF written again from a System is the scene that was read: MuJoCo runs both alike, but for what is told."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinemorph
from kinemorph.errors import ModelWarning
from kinemorph.model.system import System

mujoco = pytest.importorskip("mujoco")

TETRAHEDRON = 'vertex="0 0 0 .2 0 0 0 .2 0 0 0 .2"'
SCENE = f"""<mujoco><compiler angle="radian"/>
<option timestep="0.004" integrator="implicitfast" cone="elliptic" impratio="10" iterations="30" o_margin="0.01">
<flag eulerdamp="disable" filterparent="disable"/></option>
<asset><mesh name="wedge" {TETRAHEDRON} inertia="exact" maxhullvert="4"/></asset>
<default><geom solimp=".9 .99 .002 .5 2"/></default>
<worldbody><geom name="floor" type="plane" size="2 2 1" condim="4" friction=".8 .02 .001"/>
<geom name="step" type="box" size=".2 .2 .05" pos=".6 0 .05" solmix="3"/>
<body name="a" pos="0 0 .4"><freejoint/><geom name="trunk" type="box" size=".2 .1 .05" mass="2" priority="1"/>
<body name="b" pos=".25 0 0"><joint name="hip" axis="0 1 0" range="-.1 .2" solreflimit=".01 .8" solimplimit=".8 .9 .01"
 margin=".02" frictionloss=".2" solreffriction=".03 1"/><geom name="leg" type="capsule" fromto="0 0 0 .2 0 -.1"
 size=".03" mass=".4" condim="6" friction=".5 .01 .002" margin=".01" gap=".004"/>
<body name="c" pos=".2 0 -.1"><joint name="knee" axis="0 1 0"/><geom name="foot" size=".05" mass=".1"
 solref="-9000 -60"/>
<geom type="mesh" mesh="wedge" mass=".1"/></body></body>
<body name="d" pos="-.2 0 0"><joint name="tail" axis="0 1 0" damping=".05"/><geom name="rod" type="capsule"
 fromto="0 0 0 -.2 0 .05" size=".02" mass=".2" contype="0" conaffinity="0"/></body></body>
<body name="e" pos=".1 .02 .9"><freejoint/><geom name="ball" size=".08" mass=".5" solref=".03 .7"/></body></worldbody>
<contact><exclude body1="a" body2="b"/><exclude body1="d" body2="c"/>
<pair geom1="rod" geom2="ball" condim="3" friction=".3 .3 .01 .001 .001" solref=".01 1" margin=".005"/></contact>
<equality><joint joint1="knee" joint2="hip" polycoef="0 .5 0 0 0" solref=".05 1.1" solimp=".7 .8 .01 .5 2"/></equality>
</mujoco>"""


def loaded(text: str) -> System:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kinemorph.load_text(text, "mjcf")


def saved(system: System, path: Path) -> list[str]:
    """Saves a system; the sentences of warnings."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        kinemorph.save(system, path)
    return [str(one.message).removeprefix(f"{path}: ") for one in said]


def after(model: Any, seconds: float = 0.5) -> np.ndarray:
    """qpos after a run by MuJoCo."""
    data = mujoco.MjData(model)
    data.qvel[:3] = (0.8, 0.1, 0.0)
    for _ in range(round(seconds / model.opt.timestep)):
        mujoco.mj_step(model, data)
    assert data.ncon > 1
    return np.array(data.qpos)


def test_a_scene_moves_in_mujoco_as_the_file_that_it_was_read_from(tmp_path: Path) -> None:
    """Exclusions, options, contact pairs and all numbers of soft constraints were lost: robots jumped at the start."""
    system = loaded(SCENE)
    said = saved(pickle.loads(pickle.dumps(system)), tmp_path / "again.xml")
    assert said == [
        "vertices of meshes without a file are kept by MuJoCo in single precision and in another frame: 'c'. Save the "
        "model as TOML, too, to keep all data. [dropped]"
    ]
    model, again = mujoco.MjModel.from_xml_string(SCENE), mujoco.MjModel.from_xml_path(str(tmp_path / "again.xml"))
    options = [name for name in dir(model.opt) if not name.startswith("_") and name != "MjOption"]
    assert all(np.array_equal(getattr(model.opt, name), getattr(again.opt, name)) for name in options)
    for name in ("exclude_signature", "pair_friction", "pair_solref", "jnt_solref", "jnt_solimp", "jnt_margin",
                 "dof_solref", "eq_solref", "eq_solimp", "nbody", "ngeom"):  # fmt: skip
        assert np.array_equal(getattr(model, name), getattr(again, name)), name
    for name in ("floor", "step", "trunk", "leg", "foot", "rod", "ball"):
        for key in ("friction", "condim", "priority", "solmix", "solref", "solimp", "margin", "gap", "contype"):
            one, other = (getattr(given.geom(name), key) for given in (model, again))
            assert np.array_equal(one, other), (name, key)
    np.testing.assert_allclose(after(again), after(model), atol=1e-6)
    third = loaded((tmp_path / "again.xml").read_text())
    assert third.file_data.options == system.file_data.options and third.file_data.apart == system.file_data.apart


def test_numbers_of_parts_that_were_changed_are_told(tmp_path: Path) -> None:
    system = loaded(SCENE)
    joints = [replace(one, upper=(0.3,)) if one.name == "hip" else one for one in system.robot.joints]
    said = saved(replace(system, robot=replace(system.robot, joints=tuple(joints))), tmp_path / "again.xml")
    assert (
        "numbers that the file of the model gives parts that were changed since are left out: 'hip'. Save the model as "
        "TOML, too, to keep all data. [dropped]"
    ) in said


def test_exclusions_and_pairs_of_parts_that_are_gone_are_told(tmp_path: Path) -> None:
    system = loaded(SCENE)
    apart, pairs = (*system.file_data.apart, ("a", "gone")), (("rod", "gone", {}),)
    said = saved(replace(system, file_data=replace(system.file_data, apart=apart, pairs=pairs)), tmp_path / "again.xml")
    for sentence in (
        "<exclude> with a body that is not written is left out: 'a and gone'. ",
        "<pair> with a geom that is not written is left out: 'rod and gone'. ",
    ):
        assert f"{sentence}Save the model as TOML, too, to keep all data. [dropped]" in said


def test_what_was_left_out_when_the_file_was_read_is_told_again(tmp_path: Path) -> None:
    spatial = '<tendon><spatial><site site="s"/><site site="t"/></spatial></tendon></mujoco>'
    text = """<mujoco><worldbody><site name="t"/><body name="a" pos="0 0 1"><joint name="j"/>
        <geom size=".1"/><site name="s"/></body></worldbody></mujoco>"""
    said = saved(loaded(text.replace("</mujoco>", spatial)), tmp_path / "again.xml")
    assert said == [
        "left out when the file of the model was read: 'spatial tendons'. Compare with that file. [dropped]"
    ]
    assert saved(loaded(text), tmp_path / "again.xml") == []


@pytest.mark.parametrize(("ending", "title"), [("urdf", "URDF"), ("toml", "TOML")])
def test_other_formats_tell_what_they_lose(tmp_path: Path, ending: str, title: str) -> None:
    said = saved(loaded(SCENE), tmp_path / f"again.{ending}")
    assert (
        f"{title} cannot express what MJCF states for its simulator alone: 8 options (timestep, integrator, cone, "
        "impratio, iterations, o_margin, flag.eulerdamp, flag.filterparent), 2 exclusions, 1 contact pair, "
        "2 soft parts. Save the model in its own format, too, to keep them. [dropped]"
    ) in said


def test_contacts_are_called_after_their_geoms() -> None:
    """A contact of the foot was called after its body and the kind of its shape."""
    names = [contact.name for contact in kinemorph.elements.contacts(loaded(SCENE))]
    assert names == ["trunk", "leg", "foot", "c mesh", "ball"]


# ── states that the file itself violates ──────────────────────────────────────────────────────────────────────────────

PAIR = """<mujoco model="pair"><compiler angle="radian"/><worldbody><body name="a"><joint name="i" axis="0 1 0"/>
<geom size=".1" pos=".3 0 0" contype="0" conaffinity="0"/><body name="b" pos="1 0 0">
<joint name="j" axis="0 1 0" {ref}/>
<geom size=".1" pos=".3 0 0" contype="0" conaffinity="0"/></body></body></worldbody>
<equality><joint name="eq" joint1="j" joint2="i" polycoef="{poly}"/></equality>
<keyframe><key name="k" qpos="{key}"/></keyframe></mujoco>"""


@pytest.mark.parametrize(
    ("ref", "poly", "sentence"),
    [
        (
            ' ref=".2"',
            "0.5 1 0 0 0",
            "'j' by 0.5 rad; the nearest state that satisfies them is taken, 0.25 rad or m away",
        ),
        ("", "0.5 1 .3 0 0", "'eq' by 0.5; the nearest state that satisfies them is taken, 0.26 rad or m away"),
    ],
)
def test_qpos0_and_keyframes_that_violate_an_equality_are_moved_alike(ref: str, poly: str, sentence: str) -> None:
    """qpos0 was refused, a keyframe at the same place was moved."""
    q0 = 0.2 if ref else 0.0
    system = loaded(PAIR.format(ref=ref, poly=poly, key=f"0 {q0}"))
    ends = []
    for start, subject in (("", "the initial state of 'pair' "), ("k", "start 'k' of 'pair' ")):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            ends.append(system.run({"time": 0.01, "start": start}).q[0])
        told = f"{subject}violates constraints, {sentence} in the coordinate that moves most."
        assert told in [str(one.message) for one in said]
    c0, c1, c2 = map(float, poly.split()[:3])
    i, j = ends[0]
    assert j - q0 == pytest.approx(c0 + c1 * i + c2 * i**2, abs=1e-12)
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-12)


@pytest.mark.parametrize("name", ["a", "m", "v", "t"])
def test_inputs_by_the_files_own_name_reach_an_actuator_whose_name_is_reserved(name: str) -> None:
    motor = f'<actuator><motor name="{name}" joint="i"/></actuator></mujoco>'
    with pytest.warns(ModelWarning) as said:
        system = kinemorph.load_text(
            PAIR.format(ref="", poly="0 1 0 0 0", key="0 0").replace("</mujoco>", motor), "mjcf"
        )
    assert (
        f"<mjcf>: element '{name}': the name '{name}' is reserved for signals: the element is called '{name}~2' here. "
        f"Inputs by the name '{name}' reach it all the same. [name]"
    ) in [str(one.message) for one in said]
    runs = [kinemorph.simulate(system, 0.01, inputs={key: 2.0}) for key in (name, f"{name}~2")]
    assert np.array_equal(runs[0].q, runs[1].q) and runs[0].q[-1].any()
    off = kinemorph.simulate(system, 0.01, inputs={name: 0.0})
    assert not np.array_equal(runs[0].q, off.q)


def test_a_coupling_that_qpos0_violates_begins_alike_in_all_runs_and_is_told() -> None:
    joints = "".join(f'<body pos="0 {k} 0"><joint name="j{k}"/><geom size=".1" pos=".3 0 0"/></body>' for k in (1, 2))
    text = f"""<mujoco><worldbody>{joints}</worldbody><equality>
        <joint joint1="j2" joint2="j1" polycoef="0.4 1 0 0 0"/></equality></mujoco>"""
    with pytest.warns(ModelWarning) as told:
        system = kinemorph.load_text(text, "mjcf")
    assert str(told[-1].message).endswith(
        "the initial configuration leaves loops open: 'j2' by 0.4 m or rad; expected one that closes all loops. Runs "
        "begin in the nearest configuration that closes them. [start]"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one, other = kinemorph.simulate(system, 0.01), system.run({"time": 0.01})
    assert one.q[0].tolist() == other.q[0].tolist() and one.q[0][1] - one.q[0][0] == pytest.approx(0.4)
