"""The law of fluids: MuJoCo's models of boxes (drag and Stokes' law) and of ellipsoids (with lift and added mass).

v and w are the velocity of the center of a part relative to the fluid and the angular velocity, in the part's axes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from kinemorph.algebra.groups import compose
from kinemorph.algebra.scalar import S, absolute, div, maximum, minimum, sqrt
from kinemorph.algebra.turns import Vec3
from kinemorph.algebra.vectors import add, cross, dot, matvec_transposed, scale, sub
from kinemorph.mechanics.elements.checks import known_body
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import Effort, ElementLaw, Wrench, plain, register
from kinemorph.mechanics.elements.places import Frame
from kinemorph.mechanics.trees.tree import Attachment
from kinemorph.model.elements.forces.fluids import DragBox, DragEllipsoid, Fluid
from kinemorph.model.robot import Robot

TINY = 1e-30  # below this, squares of speeds count as this: derivatives stay finite at rest
CYCLIC = ((0, 1, 2), (1, 2, 0), (2, 0, 1))


class FluidLaw(ElementLaw[Fluid]):
    """A fluid around boxes and ellipsoids of bodies."""

    steady = True

    def problems(self, element: Fluid, robot: Robot) -> list[str]:
        return [problem for part in element.parts for problem in known_body(element, "parts", part.body, robot)]

    def acts_on(self, element: Fluid, robot: Robot) -> Sequence[str]:
        return list(dict.fromkeys(part.body for part in element.parts))

    def effort(self, element: Fluid, view: ElementView) -> Effort:
        wrenches, taken = [], 0.0
        for part in element.parts:
            at = view.instant.motions.attachment(part.body)
            frame = Frame(view.instant.motions, Attachment(at.link, compose(at.pose, view.value(part.placement))))
            v = plain(sub(frame.velocity, matvec_transposed(frame.pose.R, view.value(element.wind))))
            w = plain(frame.turning)
            half, medium = view.value(part.half), (element.density, element.viscosity)
            if isinstance(part, DragBox):
                force, moment = _box(half, *medium, v, w)
            else:
                added = view.value((part.added_mass, part.added_inertia))
                force, moment = _ellipsoid(part, half, added, *medium, v, w)
            wrenches.append(Wrench(frame, force, moment))
            taken = taken - dot(force, frame.velocity) - dot(moment, w)
        return Effort(wrenches=wrenches, dissipated=taken)


def _box(r: Vec3, density: float, viscosity: float, v: Vec3, w: Vec3) -> tuple[Vec3, Vec3]:
    """The force and the moment on a box with half edges r."""
    mean = (r[0] + r[1] + r[2]) / 3.0
    stokes, turning = 6.0 * math.pi * viscosity * mean, 8.0 * math.pi * viscosity * mean * mean * mean
    force = [-(2.0 * density * r[j] * r[k] * absolute(v[i]) + stokes) * v[i] for i, j, k in CYCLIC]
    moment = [
        -(0.5 * density * r[i] * (_fourth(r[j]) + _fourth(r[k])) * absolute(w[i]) + turning) * w[i]
        for i, j, k in CYCLIC
    ]
    return plain(force), plain(moment)


def _ellipsoid(
    part: DragEllipsoid, r: Vec3, added: tuple[Vec3, Vec3], density: float, viscosity: float, v: Vec3, w: Vec3
) -> tuple[Vec3, Vec3]:
    """The force and the moment on an ellipsoid with half axes r and the `added` mass and inertia of the fluid."""
    volume = 4.0 / 3.0 * math.pi * r[0] * r[1] * r[2]
    shorter, longer = minimum(r[0], r[1]), maximum(r[0], r[1])
    longest, middle = maximum(longer, r[2]), maximum(shorter, minimum(longer, r[2]))
    speed = _root(dot(v, v))
    # the area that the ellipsoid shows to the flow, and the normal of the section that casts it
    across = [r[j] * r[k] for _, j, k in CYCLIC]
    normal = [across[i] * across[i] * v[i] for i in range(3)]
    shown, length = dot(normal, v), _root(dot(normal, normal))
    area = math.pi * div(length, _root(shown))
    largest = math.pi * longest * middle
    drag = density * speed * (part.blunt * area + part.slender * (largest - area))
    mean = sum(r) / 3.0
    force = scale(-(drag + 6.0 * math.pi * viscosity * mean), v)
    # turning: the moments of inertia of the ellipsoids that it sweeps
    most = 8.0 / 15.0 * math.pi * middle * _fourth(longest)
    swept = [8.0 / 15.0 * math.pi * r[i] * _fourth(maximum(r[j], r[k])) for i, j, k in CYCLIC]
    felt = [(part.angular * swept[i] + part.slender * (most - swept[i])) * w[i] for i in range(3)]
    slow = 8.0 * math.pi * viscosity * mean * mean * mean
    moment = scale(-(density * _root(dot(felt, felt)) + slow), w)
    # lift: by turning (Magnus), and by the Kutta condition
    lift = scale(part.magnus * density * volume, cross(w, v))
    cosine = div(shown, speed * length)
    around = scale(div(part.kutta * density * area * cosine, length), cross(normal, v))
    force = add(force, add(lift, cross(around, v)))
    # the momentum of the fluid that moves with the body
    linear = [density * m * x for m, x in zip(added[0], v, strict=True)]
    angular = [density * m * x for m, x in zip(added[1], w, strict=True)]
    force = add(force, cross(linear, w))
    moment = add(moment, add(cross(linear, v), cross(angular, w)))
    return plain(scale(part.share, force)), plain(scale(part.share, moment))


def _fourth(x: S) -> S:
    return x * x * (x * x)


def _root(square: S) -> S:
    """The square root; its derivative is finite at 0, too."""
    return sqrt(maximum(square, TINY))


register(Fluid, FluidLaw())
