"""The law of bushings between two frames A and B. All vectors are in the axes of A, and the power of force and moments
is exact:

dp/dt = v_B - v_A - w_A x p                p: the position of B's origin, seen from A
dtheta/dt = B(theta) w                     theta: the angles of B in A; w: the angular velocity of B relative to A
moment on B = B(theta)^T moments           so that moment . w = moments . dtheta/dt
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from kinemorph.algebra.groups import act, compose, relative
from kinemorph.algebra.rotations import left_jacobian_so3_inverse, log_so3
from kinemorph.algebra.scalar import S, atan2, div, less, maximum, plus, sincos, sqrt, times, where
from kinemorph.algebra.turns import Sym3, Vec3
from kinemorph.algebra.vectors import (
    Mat,
    add,
    cross,
    dot,
    identity,
    matmul,
    matvec,
    matvec_transposed,
    neg,
    scale,
    sub,
    transpose,
)
from kinemorph.mechanics.elements.checks import known_ends
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import Effort, ElementLaw, Slot, Stiff, Wrench, plain, register
from kinemorph.mechanics.elements.places import Frame
from kinemorph.mechanics.steps.pair_forces import PairForce, PairState
from kinemorph.mechanics.trees.motions import ZERO3
from kinemorph.mechanics.trees.tree import Attachment
from kinemorph.model.elements.forces.bushings import Bushing
from kinemorph.model.robot import Robot

LOCK = 1e-12  # below this squared cosine of the second angle there is gimbal lock; derivatives stay finite there
Turned: TypeAlias = tuple[Sequence[S], Mat]  # theta [rad], shape (3,), and B(theta), shape (3, 3)


class BushingLaw(ElementLaw[Bushing]):
    """A bushing: springs and dampers along and about three axes between two frames."""

    steady = True

    def problems(self, element: Bushing, robot: Robot) -> list[str]:
        return known_ends(element, robot)

    def signals(self, element: Bushing) -> tuple[Slot, ...]:
        """Force and moment on B and the position of B, in the axes of A, and the angles in the order of `turning`."""
        named = (("force", "N"), ("moment", "N m"), ("displacement", "m"))
        along = tuple(Slot(f"{word}_{axis}", unit) for word, unit in named for axis in "xyz")
        return (*along, *(Slot(f"angle_{k}", "rad") for k in (1, 2, 3)))

    def publish(self, element: Bushing, view: ElementView) -> Mapping[str, S]:
        loaded = _loaded(element, view)
        values = (*loaded.force, *loaded.moment, *loaded.p, *loaded.theta)
        return {slot.name: value for slot, value in zip(self.signals(element), values, strict=True)}

    def effort(self, element: Bushing, view: ElementView) -> Effort:
        a, b, R, p, _, force, moment, dissipated, stored = _loaded(element, view)
        on_a = add(cross(p, force), moment)  # about the origin of A
        return Effort(
            wrenches=(
                Wrench(a, neg(force), neg(on_a)),
                Wrench(b, matvec_transposed(R, force), matvec_transposed(R, moment)),
            ),
            dissipated=dissipated,
            stored=stored,
        )

    def stiff(self, element: Bushing, view: ElementView) -> Stiff:
        a, b = (
            placed(view, element.body_a, element.placement_a),
            placed(view, element.body_b, element.placement_b),
        )
        R, p = relative(a.pose, b.pose)
        theta, B = turned(element.turning, R)
        links, value = (b.at.link, a.at.link), view.value
        along = Springs(a.pose.R, p, *value((element.stiffness, element.damping, element.preload)))
        numbers = value((element.turning_stiffness, element.turning_damping, element.turning_preload))
        about = Springs(matmul(a.pose.R, transpose(B)), theta, *numbers)
        here = plain(act(a.at.pose, p))  # the point of A at the origin of B
        return Stiff(
            pairs=(
                PairForce(links, (plain(b.at.pose.p), here), along),
                PairForce(links, (ZERO3, ZERO3), about, turning=True),
            )
        )


class Loaded(NamedTuple):
    """A bushing at one instant: the frames A and B, the pose (R, p) and angles theta of B in A, its force and moment
    on B in the axes of A; dissipated power [W] and stored energy [J].
    """

    a: Frame
    b: Frame
    R: Mat
    p: Any
    theta: Any
    force: Any
    moment: Any
    dissipated: S
    stored: S


def _loaded(element: Bushing, view: ElementView) -> Loaded:
    a, b = (
        placed(view, element.body_a, element.placement_a),
        placed(view, element.body_b, element.placement_b),
    )
    R, p = relative(a.pose, b.pose)
    speed = sub(sub(matvec(R, b.velocity), a.velocity), cross(a.turning, p))
    theta, B = turned(element.turning, R)
    rates = matvec(B, sub(matvec(R, b.turning), a.turning))
    value = view.value
    force, lost, kept = springs(p, speed, value(element.stiffness), value(element.damping), value(element.preload))
    stiffness, damping = value(element.turning_stiffness), value(element.turning_damping)
    moments, lost_turning, kept_turning = springs(theta, rates, stiffness, damping, value(element.turning_preload))
    moment = matvec_transposed(B, moments)
    return Loaded(a, b, R, p, theta, force, moment, plus(lost, lost_turning), plus(kept, kept_turning))


@dataclass(frozen=True, eq=False)
class Springs:
    """Three springs with dampers: the force or the moment on B.

    An implicit step evaluates it at the end of the step (see `mechanics.steps.implicit_forces`).
    `axes` (3, 3) turns the three forces into world axes; its transpose turns a relative velocity into the rates of x.
    """

    axes: Mat
    x: Any  # [m or rad], (3,), at the start of the step
    stiffness: Any
    damping: Any
    preload: Any

    def force(self, pair: PairState) -> Vec3:
        """The force [N] or moment [N m] on B, in world axes."""
        return plain(matvec(self.axes, self._at(pair)[0]))

    def stored(self, pair: PairState) -> S:
        """The energy [J] stored in the springs."""
        return self._at(pair)[2]

    def _at(self, pair: PairState) -> tuple[Any, S, S]:
        x = add(self.x, matvec_transposed(self.axes, pair.moved))
        return springs(x, matvec_transposed(self.axes, pair.velocity), self.stiffness, self.damping, self.preload)

    def linear(self, pair: PairState, h: S) -> tuple[Vec3, Sym3]:
        """(force, D) for a step of h [s]; D = axes diag(h c + h^2 k) axes^T is the inertia that the force adds.

        c and k are the damping and the stiffness along each axis; see `pair_forces`.
        """
        pairs = zip(self.damping, self.stiffness, strict=True)
        d = [times(h, plus(c, times(h, k))) for c, k in pairs]
        heavy = [[times(x, y) for x, y in zip(row, d, strict=True)] for row in self.axes]
        xx, xy, xz, yy, yz, zz = (dot(heavy[i], self.axes[j]) for i in range(3) for j in range(i, 3))
        return self.force(pair), (xx, xy, xz, yy, yz, zz)


def springs(x: Any, rate: Any, stiffness: Any, damping: Any, preload: Any) -> tuple[Any, S, S]:
    """(force towards x = 0, dissipated power, stored energy) of three springs with dampers.

    They are structural zeros where a spring or damper is missing.
    """
    elastic = [times(k, s) for k, s in zip(stiffness, x, strict=True)]
    viscous = [times(c, v) for c, v in zip(damping, rate, strict=True)]
    force = sub(preload, add(elastic, viscous))
    return force, dot(viscous, rate), sub((dot(scale(0.5, elastic), x),), (dot(preload, x),))[0]


def placed(view: ElementView, body: str, placement: Any) -> Frame:
    """The frame that has the pose `placement` in a body or frame."""
    frame = view.frame(body)
    return Frame(frame.motions, Attachment(frame.at.link, compose(frame.at.pose, view.value(placement))))


# ── the rotation of B relative to A ───────────────────────────────────────────────────────────────────────────────────


def turned(turning: str, R: Mat) -> Turned:
    """(theta [rad], B(theta)) of a rotation matrix, see the docstring of this file.

    `turning` says what theta is: "vector" for the rotation vector, or the order of three angles, such as "xyz".
    """
    return _vector(R) if turning == "vector" else _angles(turning, R)


def _vector(R: Mat) -> Turned:
    theta = log_so3(R)
    return theta, left_jacobian_so3_inverse(theta)


def _angles(order: str, R: Mat) -> Turned:
    """theta and B(theta) for three angles with R = R_i(theta_0) R_j(theta_1) R_k(theta_2); `order` names i, j and k.

    The angular velocity is the sum of the three rates times their axes: e_i, `second_axis` normal to it, and
    e sin(theta_1) e_i + cos(theta_1) n, where n is normal to both, and e is 1 if the order of i, j is that of x, y, z,
    else -1. B maps the angular velocity to the rates.
    """
    i, j, k = ("xyz".index(axis) for axis in order)
    e = 1.0 if (j - i) % 3 == 1 else -1.0
    level = sqrt(maximum(R[i][i] * R[i][i] + R[i][j] * R[i][j], LOCK))  # cosine of the second angle
    first, second, third = _angle(-e * R[j][k], R[k][k]), atan2(e * R[i][k], level), _angle(-e * R[i][j], R[i][i])
    sine, cosine = sincos(first)
    unit = identity(3)
    second_axis = add(scale(cosine, unit[j]), scale(e * sine, unit[k]))
    n = sub(scale(cosine, unit[k]), scale(e * sine, unit[j]))
    B = (sub(unit[i], scale(div(R[i][k], level), n)), second_axis, scale(div(1.0, level), n))
    return (first, second, third), B


def _angle(sine: S, cosine: S) -> S:
    """atan2(sine, cosine); 0 with a derivative of 0 in gimbal lock, where both are zero and the angle is undefined."""
    there = less(LOCK, sine * sine + cosine * cosine)
    return atan2(where(there, sine, 0.0), where(there, cosine, 1.0))


register(Bushing, BushingLaw())
