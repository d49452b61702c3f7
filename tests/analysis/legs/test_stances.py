"""Stances: a bouncing mass against the closed form of a mass on a spring; impulses against momenta; bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kinemorph import elements, legs, library
from kinemorph.analysis.legs.limbs import limbs
from kinemorph.errors import ModelError, ShapeError, UnsupportedError
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.system import Settings, System
from kinemorph.simulation.simulate import simulate
from kinemorph.simulation.simulate_batch import simulate_batch

MASS, STIFFNESS, GRAVITY, HEIGHT = 2.0, 5000.0, 9.81, 0.2  # [kg], [N/m], [m/s^2], [m]


def bouncer() -> System:
    """A mass that falls from HEIGHT onto elastic ground without losses, and bounces for ever."""
    builder = RobotBuilder("bouncer", gravity=(0.0, 0.0, -GRAVITY)).add(Body("mass", MASS, inertia=(1.0, 1.0, 1.0)))
    builder.joint("lift", "prismatic", "world", "mass", axis=(0.0, 0.0, 1.0))
    ground = elements.Contact("toe_ground", "mass", elements.EasyDynNormal(STIFFNESS))
    return System(builder.build(), ground, Settings(q=(HEIGHT,), time=2.0))


def test_a_bounce_is_a_half_swing_of_a_mass_on_a_spring() -> None:
    """Contact z'' = -g - k z/m from z = 0 with -v: it ends at +v after (pi + 2 atan(g/(w v)))/w; flights last 2 v/g."""
    run = simulate(legs.with_measures(bouncer()), 2.0, rtol=1e-10, atol=1e-12, output_step=0.001)
    found = legs.stances(run)
    v, w = math.sqrt(2.0 * GRAVITY * HEIGHT), math.sqrt(STIFFNESS / MASS)
    contact = (math.pi + 2.0 * math.atan(GRAVITY / (w * v))) / w
    stride = contact + 2.0 * v / GRAVITY
    deepest = (GRAVITY + math.sqrt(GRAVITY**2 + (w * v) ** 2)) / w**2
    assert found.legs == ("toe_ground",) and found.integrated and len(found) == 4
    for k, one in enumerate(found["toe_ground"]):
        assert one.number == k
        assert one.touchdown == pytest.approx(v / GRAVITY + k * stride, abs=1e-5)
        assert one.duration == pytest.approx(contact, abs=1e-5)
        assert one.impulse == pytest.approx([0.0, 0.0, MASS * (2.0 * v + GRAVITY * contact)], rel=1e-8)
        assert one.peak[2] == pytest.approx(STIFFNESS * deepest, rel=1e-3)
    whole = found["toe_ground"][:-1]
    assert [one.duty for one in whole] == pytest.approx([contact / stride] * 3, abs=1e-5)
    assert math.isnan(found.all[-1].duty)
    mean = found.means()["toe_ground"]
    assert mean.duty == pytest.approx(contact / stride, abs=1e-5) and mean.count == 4
    assert f"{mean.duty:.3f}" in str(found) and found.as_dict()["stances"][0]["stride"] == whole[0].stride


def test_accelerations_of_a_bounce() -> None:
    """Peak to peak, the force of the spring divided by the mass; the energy m g h + m v^2/2 rises while it expands."""
    run = simulate(bouncer(), 1.0, rtol=1e-10, atol=1e-12, output_step=0.001)
    found = legs.stride_figures(run, 2.0)
    w, v = math.sqrt(STIFFNESS / MASS), math.sqrt(2.0 * GRAVITY * HEIGHT)
    deepest = (GRAVITY + math.sqrt(GRAVITY**2 + (w * v) ** 2)) / w**2
    assert found.acceleration == pytest.approx(STIFFNESS * deepest / MASS, rel=1e-3)
    assert found.external == pytest.approx(
        0.5 * 2.0 * 0.5 * STIFFNESS * deepest**2, rel=1e-3
    )  # two bounces, two strides


def test_impulses_from_samples_are_those_of_integrals() -> None:
    run = simulate(bouncer(), 1.0, output_step=0.001, rtol=1e-10, atol=1e-12)
    exact = legs.stances(simulate(legs.with_measures(bouncer()), 1.0, output_step=0.001, rtol=1e-10, atol=1e-12))
    found = legs.stances(run)
    assert not found.integrated
    np.testing.assert_allclose(found.all[0].impulse[2], exact.all[0].impulse[2], rtol=1e-3)
    assert len(legs.stances(run, after=found.all[0].touchdown + 0.01)) == len(found) - 1
    assert len(legs.stances(run, shortest=0.1)) == 0  # a stance takes 0.07 s, a flight 0.4 s


def test_the_momentum_of_a_runner_changes_by_its_impulses_and_its_weight() -> None:
    """bolt_like has a closed chain, held feet and impacts; before touchdown and after liftoff it flies."""
    system = legs.with_measures(library.bolt_like())
    run = simulate(system, 1.2, output_step=0.001)
    weight = GRAVITY * system.robot.total_mass
    found = legs.stances(run)
    assert len(found) == 3
    for one in found:
        before, after = np.searchsorted(run.t, one.touchdown) - 1, np.searchsorted(run.t, one.liftoff) + 2
        gained = run.momentum[after, :3] - run.momentum[before, :3]
        fallen = np.array([0.0, 0.0, -weight * (run.t[after] - run.t[before])])
        np.testing.assert_allclose(gained, one.impulse + fallen, atol=2e-4 * one.impulse[2])
    assert run["work"][-1] == pytest.approx(run.energy.supplied[-1], rel=1e-9)
    assert run["distance"][-1] == pytest.approx(run["q.x"][-1] - run["q.x"][0], abs=1e-9)


def test_measures_of_a_batch_are_those_of_its_runs() -> None:
    system = legs.with_measures(bouncer(), ["impulse", "distance"], direction=(0.0, 0.0, 1.0))
    batch = simulate_batch(system, 0.5, q={"lift": np.array([0.1, 0.2])}, rtol=1e-9, atol=1e-11)
    for k, height in enumerate((0.1, 0.2)):
        alone = simulate(system, 0.5, q={"lift": height}, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(batch["toe_ground_impulse_z"][k], alone["toe_ground_impulse_z"], atol=1e-7)
        np.testing.assert_allclose(batch["distance"][k], alone["q.lift"] - height, atol=1e-7)
        assert len(legs.stances(batch[k])) == len(legs.stances(alone)) == 1


def test_efforts_of_a_standing_leg_are_those_of_its_controller() -> None:
    """A trunk on a leg that a PD holds: its force is the weight W of the trunk, its error W/kp, its effort W^2 t."""
    trunk, foot, kp = 1.5, 0.5, 400.0
    weight = trunk * GRAVITY
    builder = RobotBuilder("stander", gravity=(0.0, 0.0, -GRAVITY))
    for name, mass in (("trunk", trunk), ("foot", foot)):
        builder.add(Body(name, mass, inertia=(1.0, 1.0, 1.0)))
    builder.joint("lift", "prismatic", "world", "trunk", axis=(0.0, 0.0, 1.0))
    builder.joint("leg", "prismatic", "trunk", "foot", axis=(0.0, 0.0, -1.0))
    ground = elements.Contact("toe", "foot", elements.EasyDynNormal(STIFFNESS, 1e4))
    sunk = (weight + foot * GRAVITY) / STIFFNESS
    start = Settings(q=(0.3 - weight / kp - sunk, 0.3 - weight / kp))
    system = System(builder.build(), (ground, elements.PD("muscle", "leg", kp, 10.0, reference=0.3)), start)
    run = simulate(legs.with_measures(system), 1.0)
    found = legs.efforts(run)["toe"]
    assert found.effort == pytest.approx(weight**2, rel=1e-6) and found.error == pytest.approx(weight / kp, rel=1e-6)
    for name in ("effort", "toe_effort"):
        assert run[name][-1] == pytest.approx(weight**2 * run.t[-1], rel=1e-6)
    assert run["work"][-1] == pytest.approx(0.0, abs=1e-9) and len(legs.stances(run)) == 0
    shared = tuple(elements.PD(name, "leg", 0.5 * kp, 5.0, reference=0.3) for name in ("muscle", "tendon"))
    both = simulate(System(system.robot, (ground, *shared), start), 0.1)
    assert legs.efforts(both)["toe"].effort == pytest.approx(weight**2, rel=1e-6)  # the square of their sum


def test_legs_of_a_hexapod_are_named_after_their_feet() -> None:
    robot = library.hexapod24()
    ground = elements.EasyDynNormal(1e4, 1e3)
    feet = [elements.Contact(f"foot{k}_ground", f"foot{k}", ground) for k in range(1, 7)]
    hips = tuple(joint.name for joint in robot.joints if joint.name != robot.joints[0].name)
    found = limbs(robot, [*feet, elements.PD("pd", hips, 10.0, 0.1)])
    assert [leg.name for leg in found] == [f"foot{k}" for k in range(1, 7)]
    assert found[2].joints == ("leg3_hip_joint", "leg3_thigh_joint", "leg3_shank_joint")
    two = limbs(robot, feet, {"left": ("foot2_ground", "foot3_ground"), "right": "foot5_ground"})
    assert [len(leg.contacts) for leg in two] == [2, 1]


@pytest.mark.parametrize(
    ("made", "error", "says"),
    [
        (lambda run: legs.stances([run]), ShapeError, "expected a Trajectory"),
        (lambda run: legs.stances(run, "toe"), ModelError, "there is no contact 'toe' of a foot"),
        (lambda run: legs.stances(run)["left"], ModelError, "has no leg 'left'"),
        (lambda run: legs.stances(run, after=1.9).plot(), UnsupportedError, "no whole stance to plot"),
        (lambda run: legs.stances(run, 3), ModelError, "feet is 3; expected names of contacts"),
        (lambda run: legs.stances(run, after=math.nan), ShapeError, "stances: after is nan; expected a time"),
        (lambda run: legs.stances(run, after="late"), ShapeError, "after is 'late'; expected a time"),
        (lambda run: legs.stances(run, shortest=-1.0), ShapeError, "shortest is -1.0; expected a time of at least 0 s"),
        (lambda run: legs.efforts(run, after=9.0), ModelError, "the run ends at 0.5 s"),
        (lambda run: legs.efforts(bouncer()), ShapeError, "efforts was given a System; expected a Trajectory"),
        (lambda run: legs.stride_figures(None, 1.0), ShapeError, "stride_figures was given a NoneType"),
        (lambda run: legs.stride_figures(run, math.nan), ShapeError, "frequency is nan; expected a finite number"),
        (lambda run: legs.stride_figures(run, 4.0, after=math.nan), ShapeError, "after is nan"),
        (lambda run: legs.stride_figures(run, 1e9), ModelError, "samples; expected at least 4. Give a frequency in Hz"),
        (lambda run: legs.with_measures(bouncer(), body="mas"), ModelError, "'mas'.*Did you mean 'mass'"),
        (lambda run: legs.with_measures(bouncer(), direction=(1, 0)), ShapeError, "expected three numbers along x, y"),
        (
            lambda run: legs.with_measures(bouncer(), direction=(math.nan, 0, 0)),
            ShapeError,
            "of direction is nan",
        ),
        (lambda run: legs.with_measures(bouncer(), ["impuls"]), ModelError, "measures has 'impuls'"),
        (lambda run: legs.with_measures(library.bolt_like(), ["impulse"]), ModelError, "that of a constraint"),
        (lambda run: legs.with_measures(library.segway()), ModelError, "has no contacts with the ground"),
    ],
)
def test_bad_input_is_told_in_a_sentence(made, error, says) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(error, match=says):
        made(simulate(bouncer(), 0.5))


def test_forces_over_stances_are_drawn_for_each_leg(tmp_path) -> None:  # type: ignore[no-untyped-def]
    found = legs.stances(simulate(bouncer(), 1.0, output_step=0.001))
    figure = found.plot(path=tmp_path / "stances.png")
    (axes,) = figure.axes
    bold = next(line for line in axes.lines if line.get_label() == "$F_z$")
    assert np.max(bold.get_ydata()) == pytest.approx(found.all[0].peak[2], rel=0.02)
    assert (tmp_path / "stances.png").stat().st_size > 1000


@pytest.mark.slow
def test_the_feet_of_amru5_bear_its_weight() -> None:
    """Over a cycle of 4 s of a steady walk, vertical impulses sum up to weight times time (SEEDS 3.8, 5)."""
    system = legs.with_measures(library.amru5_walk(), direction=(0.0, 1.0, 0.0))
    run = simulate(system, 14.0)
    found = legs.stances(run, shortest=0.05, after=2.0)
    assert {one.leg for one in found} == {f"foot{k}" for k in range(1, 7)}
    assert all(0.5 < mean.duty < 0.55 for mean in found.means().values())
    first, last = np.searchsorted(run.t, (9.0, 13.0))
    lifted = sum(np.diff(run[f"foot{k}_impulse_z"][[first, last]])[0] for k in range(1, 7))
    assert lifted == pytest.approx(9.81 * system.robot.total_mass * 4.0, rel=1e-3)
    assert run["distance"][-1] == pytest.approx(run["q.q1"][-1], abs=1e-5)
