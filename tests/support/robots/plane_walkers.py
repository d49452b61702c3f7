"""Walkers in the plane as plants of their own equations, with the impact as a law: for tests of orbits.

Angles are measured from the vertical; the stance foot is the origin. Sources of equations and numbers: the titles in
the validation data of the same names.
"""

from __future__ import annotations

import math
from typing import Any

from kinemorph.algebra.scalar import cos, sin
from kinemorph.plants.own_equations import second_order
from kinemorph.plants.programs import Plant
from kinemorph.simulation.march.guards import Guard

# ── rimless wheel: one coordinate, 8 spokes ───────────────────────────────────────────────────────────────────────────

SPOKE = math.pi / 8.0


def rimless_wheel() -> tuple[Plant, dict[str, Any]]:
    """The plant of a rimless wheel with the parameter `slope` [rad], and the arguments of its return map."""
    plant = second_order(
        lambda q, a: [a[0] - 9.81 * sin(q[0])], {"angle": "rad"}, parameters={"slope": 0.08}, name="rimless_wheel"
    )
    return plant, {
        "section": Guard("spoke", lambda q, p: q[0] - p[0] - SPOKE, direction="rising"),
        "begins": lambda q, p: q[0] - p[0] + SPOKE,
        "relabel": lambda q, v: {"q": [q[0] - 2.0 * SPOKE], "v": [math.cos(2.0 * SPOKE) * v[0]]},
        "q": [0.08 - SPOKE],
        "v": [1.0],
    }


# ── simplest walker: feet without mass, unit length and gravity ───────────────────────────────────────────────────────


def simplest_walker() -> tuple[Plant, dict[str, Any]]:
    """The plant of the simplest walker with the parameter `slope` [rad], and the arguments of its return map."""

    def residual(q: Any, v: Any, a: Any, p: Any) -> list[Any]:
        falling = sin(q[0] - p[0])
        return [a[0] - falling, a[1] - falling - v[0] * v[0] * sin(q[1]) + cos(q[0] - p[0]) * sin(q[1])]

    def strike(q: Any, v: Any) -> dict[str, Any]:
        c = cos(2.0 * q[0])
        return {"q": [-q[0], -2.0 * q[0]], "v": [c * v[0], c * (1.0 - c) * v[0]]}

    plant = second_order(
        residual, {"stance": "rad", "swing": "rad"}, parameters={"slope": 0.009}, name="simplest_walker"
    )
    return plant, {
        "section": Guard("heel strike", lambda q: q[1] - 2.0 * q[0], direction="rising"),
        "relabel": strike,
        "q": [0.2, 0.4],
        "v": [-0.2, -0.015],
    }


# ── compass gait of Goswami, Thuilot and Espiau ───────────────────────────────────────────────────────────────────────

HIP, LEG, BELOW, ABOVE, LENGTH, G = 10.0, 5.0, 0.5, 0.5, 1.0, 9.81  # masses [kg], lengths [m], gravity [m/s^2]


def compass() -> tuple[Plant, dict[str, Any]]:
    """The plant of the compass gait with the parameter `slope` [rad], and the arguments of its return map."""

    def residual(q: Any, v: Any, a: Any) -> list[Any]:
        (s, n), (ds, dn), (dds, ddn) = q, v, a
        coupled = LEG * LENGTH * ABOVE
        c, d = coupled * cos(s - n), coupled * sin(s - n)
        inertia = LEG * BELOW**2 + (HIP + LEG) * LENGTH**2
        weight = G * (LEG * BELOW + (HIP + LEG) * LENGTH)
        return [
            inertia * dds - c * ddn - d * dn * dn - weight * sin(s),
            LEG * ABOVE**2 * ddn - c * dds + d * ds * ds + G * LEG * ABOVE * sin(n),
        ]

    plant = second_order(
        residual, {"stance": "rad", "swing": "rad"}, parameters={"slope": math.radians(3.0)}, name="compass"
    )
    return plant, {
        "section": Guard("heel strike", lambda q, p: q[0] + q[1] + 2.0 * p[0], direction="falling"),
        "relabel": _compass_strike,
        "q": [0.2187, -0.3234],
        "v": [-1.09, -0.377],
    }


def _compass_strike(q: Any, v: Any) -> dict[str, Any]:
    """The legs after a plastic impact: angular momenta about the new foot and, of the new swing leg, about the hip."""
    (s, n), (ds, dn) = q, v
    up, out = (-sin(s), cos(s)), (sin(n), -cos(n))  # from the old foot to the hip, from the hip to the new foot
    along, around = (-cos(s), -sin(s)), (cos(n), sin(n))  # their rates for unit angular velocities
    hip = [LENGTH * x for x in up]
    foot = [h + LENGTH * x for h, x in zip(hip, out, strict=True)]
    old_leg = [BELOW * x for x in up]
    new_leg = [h + ABOVE * x for h, x in zip(hip, out, strict=True)]
    hip_rate = [LENGTH * ds * x for x in along]
    old_rate = [BELOW * ds * x for x in along]
    new_rate = [h + ABOVE * dn * x for h, x in zip(hip_rate, around, strict=True)]

    def momentum(about: Any, parts: Any) -> Any:
        total = 0.0
        for mass, place, rate in parts:
            x, y = place[0] - about[0], place[1] - about[1]
            total = total + mass * (x * rate[1] - y * rate[0])
        return total

    def after(stance: float, swing: float) -> Any:
        """Both momenta after the impact, for given velocities of the new stance and swing leg."""
        hip_after = [-LENGTH * stance * x for x in around]
        new_after = [-BELOW * stance * x for x in around]
        old_after = [h - ABOVE * swing * x for h, x in zip(hip_after, along, strict=True)]
        everything = [(HIP, hip, hip_after), (LEG, new_leg, new_after), (LEG, old_leg, old_after)]
        return momentum(foot, everything), momentum(hip, everything[2:])

    before = [(HIP, hip, hip_rate), (LEG, new_leg, new_rate), (LEG, old_leg, old_rate)]
    right = momentum(foot, before), momentum(hip, before[2:])
    (a, c), (b, d) = after(1.0, 0.0), after(0.0, 1.0)
    whole = a * d - b * c
    return {"q": [n, s], "v": [(right[0] * d - b * right[1]) / whole, (a * right[1] - c * right[0]) / whole]}


# ── SLIP: a point mass on a spring ────────────────────────────────────────────────────────────────────────────────────

MASS, STIFFNESS, ENERGY = 80.0, 20000.0, 1784.8  # [kg], [N/m], [J]


def slip(height: float) -> tuple[Plant, dict[str, Any]]:
    """The stance of a SLIP runner with the parameter `attack` [rad], and the arguments of its return map.

    The flight until the next touchdown is part of the law at lift-off. The energy is conserved; the first state has the
    energy ENERGY and comes from an apex at `height` [m].
    """

    def residual(q: Any, a: Any) -> list[Any]:
        length = (q[0] * q[0] + q[1] * q[1]) ** 0.5
        pull = STIFFNESS * (1.0 - length) / (MASS * length)
        return [a[0] - pull * q[0], a[1] - pull * q[1] + G]

    def flight(q: Any, v: Any, p: Any) -> dict[str, Any]:
        down = v[1] * v[1] + 2.0 * G * (q[1] - sin(p[0]))
        return {"q": [-cos(p[0]), sin(p[0])], "v": [v[0], -(down**0.5)]}

    def energy(q: Any, v: Any) -> Any:
        squeezed = 1.0 - (q[0] * q[0] + q[1] * q[1]) ** 0.5
        motion = 0.5 * MASS * (v[0] * v[0] + v[1] * v[1])
        return motion + MASS * G * q[1] + 0.5 * STIFFNESS * squeezed * squeezed

    attack = math.radians(68.0)
    plant = second_order(residual, {"x": "m", "y": "m"}, parameters={"attack": attack}, name="slip")
    falling = -math.sqrt(2.0 * G * (height - math.sin(attack)))
    forward = math.sqrt(2.0 * (ENERGY / MASS - G * height))
    return plant, {
        "section": Guard("lift-off", lambda q: q[0] * q[0] + q[1] * q[1] - 1.0, direction="rising"),
        "begins": {"foot": lambda q, p: q[0] + cos(p[0]), "ground": lambda q, p: q[1] - sin(p[0])},
        "relabel": flight,
        "kept": {"energy": energy},
        "q": [-math.cos(attack), math.sin(attack)],
        "v": [forward, falling],
    }
