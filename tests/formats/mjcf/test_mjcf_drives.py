"""What drives, pulls and brakes in an MJCF file: first accelerations, sensors and equalities are those of MuJoCo."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import kinemorph
from kinemorph import elements
from kinemorph.model.system import System
from support.peers.mjcf_peers import acting_error

mujoco = pytest.importorskip("mujoco")
HINGE, SLIDE = '<joint name="j0" axis="0 1 0"/>', '<joint name="j1" axis="1 0 0" type="slide"/>'
TENDON = '<joint joint="j0" coef="1.5"/><joint joint="j1" coef="-.5"/></fixed>'
MODEL = """<mujoco><option {option}/><default><geom contype="0" conaffinity="0"/></default><worldbody>
    <body name="b0" pos="0 0 1">{first}<geom type="capsule" fromto="0 0 0 .3 0 -.5" size=".05" mass="1"/>
        <site name="s0" pos=".1 0 0" euler="10 20 30"/>
        <body name="b1" pos=".3 0 -.5" {body}>{second}<geom type="box" size=".1 .2 .05" mass=".7" {geom}/>
            <site name="s1" pos=".1 .2 0" euler="40 20 30"/></body></body>
    </worldbody>{rest}</mujoco>"""


def text(
    rest: str = "", *, first: str = HINGE, second: str = SLIDE, option: str = "", body: str = "", geom: str = ""
) -> str:
    return MODEL.format(first=first, second=second, option=option, body=body, geom=geom, rest=rest)


MODELS = {
    "actuators of a hinge within its limits": text(
        """<actuator>
        <motor name="pull" joint="j0" gear="3" ctrlrange="-1 2"/>
        <position name="place" joint="j0" kp="10" kv="1" forcerange="-1 3" gear="2"/>
        <velocity name="speed" joint="j0" kv="7"/>
        <general name="bent" joint="j0" gaintype="affine" gainprm="1 2 3" biastype="affine" biasprm=".1 .2 .3"/>
        <damper name="brake" joint="j0" kv="2" ctrlrange="0 1"/>
        <cylinder name="piston" joint="j1" area="2" timeconst=".1" bias="1 2 3"/>
        <intvelocity name="steady" joint="j1" kp="20" kv="1" actrange="-1 1"/>
        <position name="late" joint="j1" kp="20" kv="1" timeconst=".1" damping=".3 .2 .1" armature=".2"/>
        </actuator>""",
        first='<joint name="j0" axis="0 1 0" actuatorfrcrange="-9 9"/>',
    ),
    "limits that differ between the directions": text(
        '<actuator><position name="p" joint="j0" kp="20" kv="1" gear="-2"/></actuator>',
        first='<joint name="j0" axis="0 1 0" actuatorfrcrange="-1 2"/>',
    ),
    "limits within limits, and a gain below 0": text(
        """<actuator><position name="p" joint="j0" kp="20" kv="1" gear="-2" forcerange="-.3 .1"/>
        <general name="n" joint="j1" gainprm="-2" forcerange="-1.2 .1"/></actuator>""",
        first='<joint name="j0" axis="0 1 0" actuatorfrcrange="-1 2"/>',
    ),
    "wrenches on sites, forces and moments of a free joint": text(
        """<actuator><motor name="jet" site="s1" gear="1 2 3 4 5 6"/>
        <general name="rotor" site="s0" gear="0 0 1 0 0 .2" biastype="affine" biasprm="1 2 -3"/>
        <motor name="push" joint="f" gear="1 2 3 0 0 0"/><motor name="turn" joint="f" gear="0 0 0 1 2 3"/>
        <motor name="both" jointinparent="f" gear="1 1 0 1 2 3"/></actuator>""",
        first='<joint name="f" type="free" stiffness="3"/>',
    ),
    "balls, and sites seen from other sites": text(
        """<actuator><position name="own" joint="j1" gear="1 2 3" kp="3" kv=".2"/>
        <position name="above" jointinparent="j1" gear="1 2 3" kp="3" kv=".2"/>
        <position name="reach" site="s1" refsite="s0" gear="1 2 3 0 0 0" kp="10" kv="2"/>
        <position name="twist" site="s1" refsite="s0" gear="0 0 0 1 2 3" kp="10" kv="2"/></actuator>""",
        second='<joint name="j1" type="ball" stiffness="3" damping=".1"/>',
    ),
    "tendons": text(
        f"""<tendon><fixed name="spring" stiffness="7 1 2" damping="1 .5 .3" springlength="-.1 .3">{TENDON}
        <fixed name="cord" actuatorfrcrange="-2 1">{TENDON}</tendon>
        <actuator><position name="p" tendon="cord" kp="20" gear="2"/>
        <motor name="n" tendon="cord" gear="3" damping=".3"/><motor name="o" joint="j0" gear="3"/></actuator>""",
        first='<joint name="j0" axis="0 1 0" actuatorfrcrange="-2 2"/>',
    ),
    "gravity compensation and curved springs": text(
        body='gravcomp="0.7"',
        first='<joint name="j0" axis="0 1 0" stiffness="3 2 1" damping="1 2 3" springref="20"/>',
    ),
    "a fluid": text(option='density="1.2" viscosity=".1" wind="1 2 3"', first='<freejoint name="f"/>'),
    "a fluid around an ellipsoid": text(
        option='density="1.2" viscosity=".1" wind="1 2 3"',
        first='<freejoint name="f"/>',
        geom='fluidshape="ellipsoid"',
    ),
}


def error(system: System, name: str) -> float:
    """The largest error of our accelerations against those of MuJoCo, as a share of the largest one."""
    return acting_error(system, mujoco.MjModel.from_xml_string(MODELS[name]))


@pytest.mark.parametrize("name", MODELS)
def test_all_that_acts_acts_as_in_mujoco_and_is_written_back(name: str, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        system = kinemorph.load_text(MODELS[name], "mjcf")
        assert error(system, name) < 1e-12
        again = [kinemorph.load(path) for path in kinemorph.save(system, tmp_path / "again.toml")]
        again += [kinemorph.load(path) for path in kinemorph.save(system, tmp_path / "again.xml")]
    assert again[0].elements == system.elements
    assert [error(one, name) for one in again] == pytest.approx([0.0] * len(again), abs=1e-12)


SENSORS = """<tendon><fixed name="t" ><joint joint="j0" coef="1.5"/><joint joint="j1" coef="-.5"/></fixed></tendon>
    <actuator><position name="act" joint="j0" kp="10"/></actuator>
    <sensor><jointpos name="jp" joint="j1"/><jointvel name="jv" joint="j1"/><tendonpos name="tp" tendon="t"/>
    <tendonvel name="tv" tendon="t"/><actuatorfrc name="af" actuator="act"/><accelerometer name="acc" site="s1"/>
    <gyro name="gy" site="s1"/><velocimeter name="ve" site="s1"/><force name="fo" site="s1"/>
    <framepos name="fp" objtype="site" objname="s1"/><framequat name="fq" objtype="site" objname="s1"/>
    <framelinvel name="fl" objtype="body" objname="b1"/><frameangvel name="fa" objtype="xbody" objname="b1"/>
    <subtreecom name="sc" body="b0"/><subtreelinvel name="sl" body="b0"/><clock name="ck"/></sensor>"""


def test_sensors_are_columns_with_the_values_of_mujoco(tmp_path: Path) -> None:
    given = text(SENSORS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # t is called t~2, collision shapes do not act
        system = kinemorph.load_text(given, "mjcf")
        run = kinemorph.simulate(system, 0.01, q=[0.3, -0.4], v=[1.0, -2.0], inputs=[0.7])
        kinemorph.save(system, tmp_path / "again.xml")
        assert kinemorph.load(tmp_path / "again.xml").elements == system.elements
    model = mujoco.MjModel.from_xml_string(given)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.ctrl[:] = (0.3, -0.4), (1.0, -2.0), 0.7
    mujoco.mj_forward(model, data)
    for k in range(model.nsensor):
        name = model.sensor(k).name
        theirs = data.sensor(name).data
        mine = [float(run[c][0]) for c in run.columns if c == name or c.startswith(f"{name}.")][: len(theirs)]
        assert mine == pytest.approx(theirs.tolist(), abs=1e-9), name


@pytest.mark.parametrize(
    "equality",
    [
        '<joint joint1="j0" joint2="j1" polycoef="0 .5 .3 .2 .1"/>',
        '<tendon tendon1="a" tendon2="b" polycoef="0 1 .5 0 0"/>',
        '<tendon tendon1="a"/>',
    ],
)
def test_couplings_by_polynomials_are_exact_constraints(equality: str) -> None:
    tendons = (
        '<fixed name="a"><joint joint="j0" coef="1.5"/></fixed><fixed name="b"><joint joint="j1" coef=".5"/></fixed>'
    )
    given = text(f"<tendon>{tendons}</tendon><equality>{equality}</equality>")
    system = kinemorph.load_text(given, "mjcf")
    (constraint,) = [one for one in system.elements if isinstance(one, elements.Constraint)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = kinemorph.simulate(system, 0.3)
    model = mujoco.MjModel.from_xml_string(given)
    data = mujoco.MjData(model)
    data.qpos[:] = run.q[-1]
    mujoco.mj_forward(model, data)
    assert np.abs(data.efc_pos).max() < 1e-9  # the violation of the equality
    assert constraint.name == "equality0"


def test_what_cannot_act_is_named() -> None:
    strange = """<tendon><spatial name="rope"><site site="s0"/><site site="s1"/></spatial></tendon>
        <actuator><muscle name="strong" joint="j0" lengthrange="0 1"/><motor name="winch" tendon="rope"/>
        <adhesion name="glue" body="b1" gain="1" ctrlrange="0 1"/></actuator>"""
    with pytest.warns(kinemorph.errors.ModelWarning) as told:
        kinemorph.load_text(text(strange), "mjcf")
    said = " ".join(str(one.message) for one in told)
    for words in (
        "muscles: 1 left out ('strong')",
        "actuators on spatial tendons: 1 left out ('winch')",
        "adhesion actuators: 1 left out ('glue')",
        "spatial tendons: 1 left out ('rope')",
    ):
        assert words in said


def test_activations_stay_in_their_ranges_as_in_mujoco() -> None:
    """An integrator and a filter that reach the ends of their ranges: the positions after a while are MuJoCo's.

    Its method is of first order, with errors of 3e-4 at this step and a tenth of them at a tenth of it.
    """
    rest = """<actuator><general name="one" joint="j0" dyntype="integrator" gainprm="9" actrange="-.1 .07"/>
        <general name="two" joint="j1" dyntype="filter" dynprm=".05" gainprm="9" actrange="-.1 .2"/></actuator>"""
    model = text(rest, option='gravity="0 0 0" timestep="1e-4"')
    data = mujoco.MjData(theirs := mujoco.MjModel.from_xml_string(model))
    data.ctrl[:] = 1.0, -0.5
    mujoco.mj_step(theirs, data, 3000)
    run = kinemorph.simulate(kinemorph.load_text(model, "mjcf"), 0.3, inputs={"one": 1.0, "two": -0.5})
    assert data.act == pytest.approx([0.07, -0.1])
    assert run.q[-1] == pytest.approx(data.qpos, rel=5e-4)


def test_a_thrust_is_an_input() -> None:
    """A wrench of 1 N that an input scales lifts a body of 1 kg like an actuator on its frame."""
    robot = kinemorph.RobotBuilder("drone").add(kinemorph.Body.box("body", 1.0, (0.2, 0.2, 0.1))).root("body", "free")
    wrench = elements.AppliedWrench("rotor", "body", (0.0, 0.0, 1.0), axes="body", scaled=True)
    drive = elements.Actuator("rotor", frame="body", gear=(0.0, 0.0, 1.0, 0.0, 0.0, 0.0))
    for rotor in (wrench, drive):
        run = kinemorph.simulate(System(robot.build(), (rotor,)), 1.0, inputs=[12.0])
        assert run["q.body_root.z"][-1] == pytest.approx(0.5 * (12.0 - 9.81), rel=1e-6)


@pytest.mark.parametrize("stiffness", [50.0, 1e5])
def test_tendons_and_their_drives_are_stable_and_right_in_steps_of_contact(stiffness: float) -> None:
    """A servo on a tendon over two joints, far stiffer than an explicit step of 1 ms can take."""
    builder = kinemorph.RobotBuilder("fingers").add(*(kinemorph.Body.sphere(name, 0.1, 0.02) for name in "ab"))
    for name in "ab":
        builder.joint(f"{name}_slide", "prismatic", "world", name, axis=(1.0, 0.0, 0.0))
    cord = elements.Tendon("cord", ("a_slide", "b_slide"), (1.0, -0.5), damping=0.1 * stiffness)
    servo = elements.Actuator("servo", tendon="cord", control="position", gain=stiffness)
    system = System(builder.build(), (cord, servo))
    run = kinemorph.simulate(system, 1.0, inputs=[0.1], method="implicit_contact", step=1e-3)
    assert run.q[-1] == pytest.approx([0.08, -0.04], abs=1e-5)  # a length of 0.1, along the gradient of the length
    assert np.abs(run.q[:, 0] + 2.0 * run.q[:, 1]).max() < 1e-12
