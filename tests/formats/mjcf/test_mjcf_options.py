"""Flags in <option> of an MJCF file: what they disable does not act here either, as in MuJoCo. Rare actuators."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import kinemorph
from kinemorph.errors import InactiveWarning
from support.tools.each_case import each_case

mujoco = pytest.importorskip("mujoco")

ARM = """<mujoco><compiler angle="radian"/><option {option}>{flag}</option><worldbody><body name="b">
  <joint name="j" axis="0 1 0" damping=".3" frictionloss=".1" stiffness="5" springref=".4" range="-1 1"/>
  <geom name="g" type="capsule" fromto="0 0 0 .3 0 -1" size=".05" mass="1"/><site name="s"/>
  <body name="c" pos="0 0 -1"><joint name="k" axis="0 1 0"/><geom name="h" size=".1"/></body>
</body></worldbody>
<equality><joint joint1="k" joint2="j" polycoef="0 1 0 0 0"/></equality>
<actuator><motor name="a1" joint="j" gear="3" ctrlrange="-.1 .1" group="2"/></actuator></mujoco>"""


def read(option: str = "", flag: str = "") -> tuple[kinemorph.System, str]:
    """The system with these options, and its warnings."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        system = kinemorph.load_text(ARM.format(option=option, flag=flag), "mjcf")
    return system, " ".join(str(one.message) for one in told)


@each_case(
    ("option", "flag"),
    [
        ('actuatorgroupdisable="1 3"', 'gravity="disable" spring="disable"'),
        ("", 'damper="disable" clampctrl="disable"'),
        ("", 'actuation="disable"'),
        ('actuatorgroupdisable="2"', ""),
    ],
)
def test_what_a_file_switches_off_does_not_act(option: str, flag: str) -> None:
    """Springs, dampers, actuators and limits of controls acted although the file disables them, without a warning."""
    flags = f'<flag {flag} equality="disable"/>'
    system, told = read(option, flags)
    model = mujoco.MjModel.from_xml_string(ARM.format(option=option, flag=flags))
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.ctrl[:] = (0.2, -0.1), (0.5, 0.3), 0.7
    mujoco.mj_forward(model, data)
    off = "actuation" in flag or option == 'actuatorgroupdisable="2"'
    assert ("actuators that the options of the file switch off: 1 left out ('a1')" in told) == off
    inputs = None if off else [0.7]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InactiveWarning)
        run = kinemorph.simulate(system, 1e-3, q=data.qpos, v=data.qvel, inputs=inputs, method="rk4", step=1e-3)
    np.testing.assert_allclose(run.a[0], data.qacc, rtol=1e-12)


@pytest.mark.slow
def test_constraints_that_a_file_switches_off_are_not_in_the_model() -> None:
    joint = read()[0].robot.joint("j")
    assert joint.friction == (0.1,) and joint.upper == (1.0,) and len(read()[0].robot.couplings) == 1
    for flag in ('constraint="disable"', 'equality="disable" limit="disable" frictionloss="disable" contact="disable"'):
        system, told = read(flag=f"<flag {flag}/>")
        joint = system.robot.joint("j")
        assert joint.friction == (0.0,) and joint.upper == (np.inf,) and not system.robot.couplings
        assert not any(body.collisions for body in system.robot.bodies) and "equalities that are switched off" in told


@each_case(
    ("old", "new", "sentence"),
    [
        ('gear="3"', 'gear="3" delay=".1" nsample="3"', "delays of actuators: 1 left out ('a1')"),
        ('stiffness="5"', 'stiffness="5" springyield="1"', "springs that yield: 1 left out ('j')"),
        (
            "<motor",
            '<general dyntype="filter" actearly="true" name="a2" joint="k"/><motor',
            "(actearly): 1 left out ('a2')",
        ),
        ('stiffness="5"', 'stiffness="5" solreflimit="0 0"', "limits without stiffness: 1 left out ('j')"),
        ('stiffness="5"', 'stiffness="5" solreffriction=".1 1"', "(solref, solimp) of friction: 1 left out ('j')"),
        (
            "<equality><joint",
            '<equality><joint solref=".1 1"',
            "softness (solref, solimp) of equalities: 1 left out ('equality0'). They hold exactly; load(..., "
            "soft_equalities=True) (--soft-equalities) makes them as soft as the file says.",
        ),
        (
            "</mujoco>",
            '<contact><pair geom1="g" geom2="h"/></contact></mujoco>',
            "contact pairs: 1 left out ('g and h')",
        ),
        ("</mujoco>", '<sensor><touch site="s"/></sensor></mujoco>', "sensors of kind touch: 1 left out"),
        (
            "</mujoco>",
            '<option><flag override="enable"/></option></mujoco>',
            "override those of all contacts: 1 left out",
        ),
    ],
)
def test_what_does_not_act_is_named(old: str, new: str, sentence: str) -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        kinemorph.load_text(ARM.format(option="", flag="").replace(old, new), "mjcf")
    assert sentence in " ".join(str(one.message) for one in told)


def test_an_actuator_with_several_controls_does_not_shift_the_data_of_others() -> None:
    """A motor after an orientation servo, which has 3 controls and outputs, got the gear and limits of another row."""
    ball = '<body name="d" pos="1 0 0"><joint name="o" type="ball"/><geom size=".1"/></body></worldbody>'
    servo = '<actuator><orientation name="s" joint="o" kp="1" ctrlrange="-2 2"/>'
    text = ARM.format(option="", flag="").replace("</worldbody>", ball).replace("<actuator>", servo)
    with pytest.warns(kinemorph.errors.ModelWarning, match=r"so3 actuators: 1 left out \('s'\)"):
        (motor,) = [one for one in kinemorph.load_text(text, "mjcf").elements if one.name == "a1"]
    assert (motor.gear, motor.lower, motor.upper) == (3.0, -0.1, 0.1)


def test_a_spring_whose_force_would_overflow_is_left_out() -> None:
    """A mutant: springref="-1e308" with a curve gave a force that is not finite, and the file was loaded."""
    text = ARM.format(option="", flag="").replace('springref=".4"', 'springref="-1e308"')
    with pytest.warns(kinemorph.errors.ModelWarning, match="rest is -1e"):
        assert not any(one.name == "j spring" for one in kinemorph.load_text(text, "mjcf").elements)
