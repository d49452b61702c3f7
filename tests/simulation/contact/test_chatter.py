"""`ChatterWarning` is given where steps that are too large matter in the run, and says what they do there."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest

from kinemorph import Body, RobotBuilder, System, elements, library, simulate
from kinemorph.algebra.scalar import where
from kinemorph.elements import PD, JointFriction, Rope
from kinemorph.errors import ChatterWarning
from kinemorph.simulation.results.trajectory import Trajectory

STEPS: dict[str, Any] = {"method": "heun", "step": 1e-3}


def slider(*parts: Any) -> System:
    """A block of 1 kg on a rail, with elements."""
    builder = RobotBuilder("slider").body("block", 1.0, inertia=(0.1, 0.1, 0.1))
    return System(builder.joint("x", "prismatic", "world", "block", axis=(1.0, 0.0, 0.0)).build(), parts)


def silent(system: System, until: float, **options: Any) -> Trajectory:
    """A run that gives no ChatterWarning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", ChatterWarning)
        return simulate(system, until, **STEPS, **options)


def test_dry_friction_that_keeps_a_block_at_rest_chatters_and_the_warning_says_how_much() -> None:
    """A push of 20 N against 50 N: the block creeps at 0.4 mm/s, and explicit steps let it rattle at 30 mm/s."""
    rubbing = slider(elements.JointFriction("rub", ("x",), coulomb=50.0))
    with pytest.warns(ChatterWarning, match="'rub' at t = 0 s .* small errors grow") as seen:
        simulate(rubbing, 0.2, forces=lambda t: [20.0], **STEPS)
    (text,) = (str(entry.message) for entry in seen if entry.category is ChatterWarning)
    found = re.search(r"v 'x' is (\S+) m/s, and (\S+) m/s with stable steps", text)
    assert found is not None
    assert float(found[2]) == pytest.approx(4.36e-4, rel=1e-2) and abs(float(found[1])) > 1e-2


@pytest.mark.parametrize(("force", "speed"), [(80.0, 0.0), (0.0, 5.0)])
def test_a_block_that_only_passes_through_rest_is_accurate_and_not_warned_of(force: float, speed: float) -> None:
    """It was said to be wrong, by a factor of 2e5 per step, with a velocity that was right to a thousandth."""
    rubbing = slider(elements.JointFriction("rub", ("x",), coulomb=50.0))
    run = silent(rubbing, 0.5, v=[speed], forces=lambda t: [force])
    exact = simulate(rubbing, 0.5, v=[speed], forces=lambda t: [force], method="radau")
    assert abs(run.v - exact.v).max() < 6e-3 * abs(exact.v).max()


def test_controllers_that_switch_are_no_stiff_forces() -> None:
    """A bang-bang controller and a relay with hysteresis: their outputs jump, and no step size would change that."""

    def relay(t: Any, q: Any, memory: Any) -> Any:
        on = where(q > 0.05, -1.0, where(q < -0.05, 1.0, memory[0]))
        return [5.0 * on], [on]

    def bang(t: Any, q: Any, v: Any) -> Any:
        return where(q + 0.3 * v > 0.0, -5.0, 5.0)

    silent(slider(elements.Continuous("bang", bang, ("q.x", "v.x"), drives="x")), 0.5, q=[0.2])
    sampled = elements.Sampled("relay", relay, ("q.x",), drives="x", every=1e-2, memory={"on": 1.0})
    silent(slider(sampled), 0.5, q=[0.2])


# ── the default where joints rub ──────────────────────────────────────────────────────────────────────────────────────


def rubbing(friction: float) -> System:
    """A pendulum on an elastic rope, with dry friction in its joint."""
    builder = RobotBuilder("p").add(Body.rod("link", 1.0, 0.8, center=(0, 0, -0.4)))
    builder.joint("swing", "revolute", "world", "link", axis=(0, -1, 0), friction=friction)
    rope = Rope("rope", "world", "link", 1000.0, 0.5, point_a=(0.5, 0, -0.3), point_b=(0, 0, -0.8))
    return System(builder.build(), (JointFriction("friction"), rope))


@pytest.mark.parametrize(("friction", "method", "most"), [(0.05, "dop853", 1e-5), (5.0, "extrapolated_contact", 2e-3)])
def test_friction_takes_implicit_steps_only_where_it_is_stiff(friction: float, method: str, most: float) -> None:
    """Weak friction switched to steps for contact, too: 5 % of this motion, without a word."""
    run, exact = (simulate(rubbing(friction), 2.0, q=[-1.2], output_step=0.02, **more) for more in ({}, {"rtol": 1e-9}))
    assert run.statistics.method == method
    assert np.abs(run.q - exact.q).max() < most * np.ptp(exact.q)


def test_a_run_that_fails_and_its_warning_advise_the_same_step() -> None:
    """The run said step=0.001, the warning 0.0038 s."""
    held = System(library.double_pendulum(), (PD("hold", ("q1", "q2"), kp=5e4, kd=10.0),))
    with pytest.warns(ChatterWarning, match=r"'hold\.2' at t = 0 s .* Take steps of at most 0\.001 s, or"):
        run = simulate(held, 1.0, q=[1.0, 0.0], step=0.01, method="rk4")
    assert "The step of 0.01 s is too large: try step=0.001." in run.outcome.message
    damped = System(library.double_pendulum(), (PD("hold", ("q1", "q2"), kp=100.0, kd=300.0),))
    with pytest.warns(ChatterWarning, match=r"at most 0\.00079 s, or"):  # a tenth is still unstable
        simulate(damped, 1.0, q=[1.0, 0.0], step=0.01, method="rk4")
