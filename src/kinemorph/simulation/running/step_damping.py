"""Whether steps of first order damp joints that are driven: a loss that the energy balance does not show.

A step that takes the force of a stiffness k at its end, as those of `implicit_contact` do, damps an oscillation as a
damper of k h would. What a spring loses in this way is missing in the energy balance. What a controlled joint loses is
not, because its controller supplies whatever its forces do. So the loss is computed from the states of the run, and
compared with the energy that was exchanged.

Where the joint itself is damped much more, by its controller or by friction, k h does not matter: such joints are left
out.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from kinemorph.algebra.arrays import Array, evenly
from kinemorph.errors import EnergyWarning, users_level
from kinemorph.mechanics.steps.frozen_stiffness import joint_slopes
from kinemorph.model.parameter import evaluate
from kinemorph.plants.instant import Instant
from kinemorph.plants.programs import Plant
from kinemorph.simulation.integrators.linearly_implicit import LinearlyImplicit
from kinemorph.simulation.results.segment import Segment
from kinemorph.simulation.running.energy_check import SHARE, exchanged_energy, run_energies

MOST_STATES = 4  # states of a run at which stiffness is computed


def damping_losses(segment: Segment, step: float) -> dict[str, float]:
    """The energy [J] that steps of this size [s] take from a run at controlled joints, by the name of the element.

    Joints whose own damping is more than 1 / SHARE times that of the steps are left out.
    """
    law, n = segment.plant.laws.stiff, len(segment.t)
    if law is None or n < 2 or not np.isfinite(segment.v).all():
        return {}
    found: dict[str, list[float]] = {}
    squares: Array = np.atleast_1d(np.trapezoid(segment.v**2, segment.t, axis=0))
    duration = float(segment.t[-1] - segment.t[0])
    for k in evenly(n, MOST_STATES):
        groups = (segment.q, segment.v, segment.x, segment.m, segment.u)
        q, v, x, m, u = (group[k].tolist() for group in groups)
        tree, stiff = law(Instant(float(segment.t[k]), q, v, x, m, u, segment.p.tolist()))
        if all(hasattr(force.law, "stored") for force in stiff.joints.values()):
            return {}  # only springs, no controller
        if stiff.every is not None:
            q, v = stiff.every.q, stiff.every.v
            driven = duration * np.array(v[segment.plant.nv :], dtype=float) ** 2  # from this state alone
            squares = np.append(squares[: segment.plant.nv], driven)
        slopes = {name: joint_slopes(tree, q, v, force, step) for name, force in stiff.joints.items()}
        damping = _joint_damping(segment.plant)
        for name, (_, C) in slopes.items():
            for j, arm in stiff.joints[name].factors.items():
                damping[j] += C * arm * arm
        for name, (K, _) in slopes.items():
            if not hasattr(stiff.joints[name].law, "stored"):
                along = {j: step * K * arm * arm for j, arm in stiff.joints[name].factors.items()}
                losses = [x * float(squares[j]) for j, x in along.items() if x > SHARE * damping[j]]
                found.setdefault(name, []).append(sum(losses))
    return {name: float(np.mean(losses)) for name, losses in found.items()}


def _joint_damping(plant: Plant) -> Array:
    """The viscous damping of all joints of the robot [N m s/rad or N s/m], those with coordinates first."""
    assert plant.dynamics is not None
    joints = sorted(plant.dynamics.robot.joints, key=lambda joint: bool(joint.driven))
    return np.array([float(evaluate(d)) for joint in joints for d in joint.damping], dtype=float)


def warn_of_damping(segments: Sequence[Segment], method: object, step: float | None) -> bool:
    """Warns where steps of first order damp controlled joints by more than SHARE of the exchanged energy."""
    if step is None or not isinstance(method, LinearlyImplicit) or method.extrapolated or method.centered:
        return False
    for segment in segments:
        energies = run_energies(segment)
        if energies is None:
            continue
        exchanged = exchanged_energy(energies)
        losses = damping_losses(segment, step)
        lost = sum(losses.values())
        if not lost > SHARE * exchanged:
            continue
        worst = max(losses, key=lambda name: losses[name])
        warnings.warn(
            f"steps of {step:.3g} s of '{method.name}' damp the motion of '{segment.plant.name}': its controllers, "
            f"above all '{worst}', take about {lost:.3g} J out of it, {lost / exchanged:.0%} of the {exchanged:.3g} J "
            "that were exchanged, only because their forces are those of the end of each step. Take "
            f"method='extrapolated_contact', or smaller steps (step={step / 10:.2g}, --step {step / 10:.2g}).",
            EnergyWarning,
            stacklevel=users_level(),
        )
        return True
    return False
