"""Joint limits and equalities of MJCF act with the file's own softness: beside MuJoCo, at rest and in motion."""

from __future__ import annotations

import os
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinemorph
from kinemorph import load_text, scaled, simulate
from kinemorph.elements import ImpedanceStop, JointLimits, with_joint_forces
from kinemorph.errors import ModelError, ModelWarning, ParseError
from kinemorph.model.system import System
from support.peers.pressed_stops import bare_text, pressed, scenes

mujoco = pytest.importorskip("mujoco")

STOPS = {  # how the joints of ROW state their stops
    "usual": "",
    "class": 'class="hard"',
    "own": 'class="hard" solreflimit="0.01 0.7"',
    "direct": 'solreflimit="-3000 -50"',
    "shaped": 'solimplimit="0.5 0.99 0.01 0.3 3"',
    "flat": 'solimplimit="0.5 0.99 0 0.3 3"',
    "early": 'margin="0.02"',
    "low early": 'margin="0.03"',
    "quick": 'solreflimit="0.0001 1"',  # MuJoCo takes two steps for its time
    "slide": 'type="slide" axis="0 0 1" solreflimit="0.05 1"',
    "turned": 'ref="0.3"',
}
ROW = f"""<mujoco><option timestep="0.002" gravity="0 0 0"/><compiler angle="radian"/>
  <default><joint axis="0 1 0" range="-0.5 0.5" damping="0.5" armature="0.01"/>
    <default class="hard"><joint solreflimit="0.004 1" solimplimit="0.95 0.99 0.001"/></default></default>
  <worldbody>{
    "".join(
        f'<body name="b{k}" pos="0 {k} 0"><joint name="{name}" {own}/>'
        '<inertial pos="0.1 0 -0.3" mass="1" diaginertia="0.02 0.02 0.01"/></body>'
        for k, (name, own) in enumerate(STOPS.items())
    )
}
    <body name="c1" pos="1 0 0"><joint name="low" range="-2 2"/><inertial pos="0 0 -1" mass="1" diaginertia=".1 .1 .1"/>
      <body name="c2" pos="0 0 -1"><joint name="high" range="-2 2"/>
        <inertial pos="0 0 -1" mass="1" diaginertia=".1 .1 .1"/></body></body></worldbody>
  <tendon><fixed name="rope" range="-0.2 0.3" solreflimit="0.03 0.8" margin="0.01"><joint joint="low" coef="1"/>
    <joint joint="high" coef="0.5"/></fixed></tendon></mujoco>"""


def quietly(text: str, **options: Any) -> System:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return load_text(text, "mjcf", **options)


def at_rest(text: str, efforts: Any, steps: int = 2500) -> Any:
    """MuJoCo's state after many steps under constant efforts, (nv,)."""
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qfrc_applied[:] = efforts
    for _ in range(steps):
        mujoco.mj_step(model, data)
    assert abs(data.qvel).max() < 1e-6
    return data.qpos


def test_joints_and_tendons_rest_where_those_of_mujoco_do(tmp_path: Path) -> None:
    """Stops were five times softer than MuJoCo's default and knew none of these numbers. A file that is written has the
    same stops, and so has TOML.
    """
    names = [*STOPS, "low", "high"]
    efforts = [*(8.0 + k for k in range(len(STOPS))), 20.0, 5.0]
    efforts[names.index("class")], efforts[names.index("low early")] = -8.0, -20.0
    there = dict(zip(names, at_rest(ROW, efforts), strict=True))
    assert there["usual"] - 0.5 == pytest.approx(0.00123, abs=1e-5), "beyond the limit"
    system = quietly(ROW)
    options: Any = {"method": "implicit_contact", "step": 2e-3, "output_step": 1.0}
    run = simulate(with_joint_forces(system), 4.0, forces=lambda t, q, v: efforts, **options)
    for name in names:
        assert run[f"q.{name}"][-1] == pytest.approx(there[name], abs=1e-7), name
    kinemorph.save(system, tmp_path / "row.toml")
    assert kinemorph.load(tmp_path / "row.toml").robot == system.robot
    kinemorph.save(system, tmp_path / "row.xml")
    again = mujoco.MjModel.from_xml_path(str(tmp_path / "row.xml"))
    data = mujoco.MjData(again)
    data.qfrc_applied[:] = efforts
    for _ in range(2500):
        mujoco.mj_step(again, data)
    written = {again.joint(j).name: data.qpos[again.jnt_qposadr[j]] for j in range(again.njnt)}
    assert written == pytest.approx(there, abs=1e-6)
    usual = system.robot.joint("usual").stop
    assert usual is not None and usual == ImpedanceStop(inertia=pytest.approx(0.01 + 0.02 + 0.1))
    large = scaled(system, length=2.0)
    assert large.robot.joint("slide").stop.width == pytest.approx(0.002)  # type: ignore[union-attr]
    assert large.robot.joint("usual").stop.width == pytest.approx(0.001)  # type: ignore[union-attr]


def test_a_joint_returns_from_its_stop_with_mujocos_velocity() -> None:
    """MuJoCo's stop adds inertia, which is no force: the same velocity comes back, sooner and from a smaller depth."""
    text = """<mujoco><option timestep="5e-5" gravity="0 0 0"/><worldbody><body><joint name="j" range="-0.5 0.5"
        solreflimit="{}"/><geom size=".1" pos=".3 0 0"/></body></worldbody><compiler angle="radian"/></mujoco>"""
    for solref, depth in (("0.02 1", 0.0147), ("0.02 0.3", 0.0081)):
        model = mujoco.MjModel.from_xml_string(text.format(solref))
        data = mujoco.MjData(model)
        data.qpos[0], data.qvel[0] = 0.49, 2.0
        deepest = 0.0
        while data.time < 0.2:
            mujoco.mj_step(model, data)
            deepest = max(deepest, data.qpos[0] - 0.5)
        run = simulate(with_joint_forces(quietly(text.format(solref))), 0.2, q=[0.49], v=[2.0], output_step=1e-4)
        assert deepest == pytest.approx(depth, rel=0.05)
        assert (run["q.j"].max() - 0.5) / deepest == pytest.approx(np.sqrt(0.05), rel=0.15)
        assert run.v[-1, 0] == pytest.approx(data.qvel[0], rel=0.1)


def test_numbers_of_a_stop_that_are_no_such_numbers_are_named() -> None:
    builder = kinemorph.RobotBuilder("r").add(kinemorph.Body.rod("rod", 2.0, 1.0, (0.5, 0.0, 0.0), axis="x"))
    stop = ImpedanceStop(time=0.0, end=1.0, ratio=-1.0, margin=np.inf, inertia=0.0)
    builder.joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0), upper=0.5, stop=stop)
    builder.joint("arm", "spherical", "rod", "hand", stop=ImpedanceStop()).body("hand")
    with pytest.raises(ModelError) as found:
        builder.build()
    said = str(found.value)
    for key, clause in (
        ("time", "time is 0, expected a number above 0"),
        ("end", "end is 1, expected a number from 0 to 1"),
        ("ratio", "ratio is -1, expected a number from 0 to inf"),
        ("margin", "margin is inf, expected a number from -inf to inf"),
        ("inertia", "inertia is 0, expected a number above 0"),
    ):
        assert f"stop: {clause}" in said, key
    assert "stop is given, but a spherical joint has no single coordinate with limits. Leave stop out." in said


def test_given_stiffness_counts_before_the_stop_of_the_file() -> None:
    system = quietly(ROW)
    stiff = System(system.robot, (JointLimits("stops", ("usual",), stiffness=400.0, damping=20.0),))
    run = simulate(stiff, 2.0, forces=lambda t, q, v: [8.0, *[0.0] * (len(v) - 1)], output_step=1.0)
    assert run["q.usual"][-1] == pytest.approx(0.52, abs=1e-6)


LOOSE = """<mujoco><option timestep="0.002"/><compiler angle="radian"/>
  <default><joint axis="0 1 0" damping="0.3"/></default>
  <worldbody>
    <body name="a" pos="0 0 0"><joint name="a"/><geom size=".1" pos=".3 0 0" mass="1"/></body>
    <body name="b" pos="0 1 0"><joint name="b"/><geom size=".1" pos=".3 0 0" mass="2"/></body>
    <body name="c" pos="0 2 0"><joint name="c"/><geom size=".1" pos=".3 0 0" mass="1"/></body>
    <body name="d" pos="0 3 0"><joint name="d"/><geom size=".1" pos=".3 0 0" mass="1"/></body>
    <body name="e" pos="0 4 0"><joint name="e"/><geom size=".1" pos=".3 0 0" mass="1"/></body>
    <body name="f" pos="0 5 0"><joint type="free" damping="3"/>
      <geom type="box" size=".1 .2 .3" pos=".1 0 0" mass="2"/></body>
  </worldbody>
  <tendon><fixed name="cable"><joint joint="c" coef="2"/><joint joint="d" coef="1"/></fixed></tendon>
  <equality>
    <joint name="gear" joint1="a" joint2="b" polycoef="0.1 -2 0 0 0" solref="0.05 1" solimp="0.8 0.9 0.01"/>
    <joint name="held" joint1="e" polycoef="0.2 0 0 0 0" solref="0.1 1"/>
    <tendon name="rope" tendon1="cable" polycoef="0.1 0 0 0 0" solref="0.07 1"/>
    <weld name="mount" body1="f" relpose="0 0 0 1 0 0 0" anchor="0 5 0" torquescale="1.5" solref="0.05 1"/>
    <connect name="pin" body1="d" body2="c" anchor="0 -0.5 0" solref="0.3 1" active="false"/>
  </equality></mujoco>"""


def test_equalities_hold_exactly_or_as_softly_as_the_file_says() -> None:
    with pytest.warns(ModelWarning, match="softness") as found:
        exact = load_text(LOOSE, "mjcf")
    sentence = (
        "softness (solref, solimp) of equalities: 4 left out ('gear', 'held', 'rope', 'mount'). They hold exactly; "
        "load(..., soft_equalities=True) (--soft-equalities) makes them as soft as the file says."
    )
    assert any(sentence in str(one.message) for one in found), [str(one.message) for one in found]
    assert exact.robot.loops and exact.robot.couplings
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        soft = load_text(LOOSE, "mjcf", soft_equalities=True)
    assert not [one for one in said if "softness" in str(one.message)]
    assert not soft.robot.loops and not soft.robot.couplings
    there = at_rest(LOOSE, np.zeros(11), 12000)
    run = simulate(soft, 25.0, method="implicit_contact", step=5e-3, output_step=5.0)
    assert abs(run.v[-1]).max() < 1e-6
    assert run.q[-1, :5] == pytest.approx(there[:5], abs=1e-6)
    assert there[0] - 0.1 + 2.0 * there[1] == pytest.approx(0.0117, abs=1e-3), "far from exact"
    assert run.q[-1, 5:] == pytest.approx(there[5:], abs=1e-6), "the weld is violated by more than its width"


def test_soft_equalities_that_do_not_act_are_refused() -> None:
    link = '<robot name="r"><link name="b"/></robot>'
    with pytest.raises(ParseError, match=r"soft_equalities is given, but it is for equalities of MJCF files, .*URDF\."):
        load_text(link, "urdf", soft_equalities=True)
    with pytest.raises(ModelError, match="soft_equalities is 'no', expected True or False"):
        load_text(LOOSE, "mjcf", soft_equalities="no")  # type: ignore[arg-type]
    with pytest.warns(ModelWarning, match="soft_equalities is given, but the file has no equalities"):
        load_text(ROW, "mjcf", soft_equalities=True)


def test_soft_equalities_that_are_not_written_again_are_named(tmp_path: Path) -> None:
    """MuJoCo would take a tendon whose two limits coincide for one without limits."""
    soft = quietly(LOOSE, soft_equalities=True)
    with pytest.warns(ModelWarning) as found:
        kinemorph.save(soft, tmp_path / "loose.xml")
    said = " ".join(str(one.message) for one in found)
    assert "elements of kind Tendon that are held at one length are left out: 'gear', 'held', 'rope'" in said
    assert "elements of kind Bushing are left out: 'mount'" in said
    kinemorph.save(soft, tmp_path / "loose.toml")
    assert kinemorph.load(tmp_path / "loose.toml").elements == soft.elements


def test_equalities_that_no_spring_expresses_stay_exact_and_are_named() -> None:
    curved = re.sub("0.1 -2 0 0 0", "0.1 -2 0.5 0 0", LOOSE)
    with pytest.warns(
        ModelWarning, match=re.escape("equalities: 1 left out ('gear'). Those of higher order hold exac")
    ):
        load_text(curved, "mjcf", soft_equalities=True)


FOLDER = Path(os.environ.get("KINEMORPH_MJCF_ROBOTS", ""))


@pytest.mark.slow
@pytest.mark.skipif("KINEMORPH_MJCF_ROBOTS" not in os.environ, reason="KINEMORPH_MJCF_ROBOTS is not set")
def test_robots_of_others_rest_against_their_stops_as_in_mujoco() -> None:
    """All joints against their limits, within 1 mrad or 1 mm of MuJoCo's; with loops, whose springs are as stiff as far
    from their width everywhere, within 10 mrad. One file for each folder, with at most 30 degrees of freedom.
    """
    seen = set[str]()
    for file in scenes(FOLDER):
        try:
            text = "" if file.parent.name in seen else bare_text(file)
        except (ValueError, mujoco.FatalError):
            continue
        if not text or mujoco.MjModel.from_xml_string(text).nv > 30:
            continue
        for one in (pressed(file.name, text, side) for side in ("upper", "lower")):
            if one is not None and one.rests:
                assert one.off < (1e-2 if one.loops else 1e-3), one
                seen.add(file.parent.name)
    assert len(seen) >= 20
