"""The law of tires: Gim's model (University of Arizona), with the formulae of EasyDyn.

Axes at the contact: x in the rolling direction, y to its left, z along the normal of the ground there. Forces are
written as shares of the largest friction force, mu Fz; C are stiffnesses and s slips, longitudinal (x), lateral (y) and
by camber (c):

    a_x = C_x s_x / (3 mu Fz)     a_y = C_y s_y / (3 mu Fz)     c = C_c s_c / (mu Fz)

The whole contact patch skids where  a_x^2 + (a_y + c)^2 > 1;  else it
skids over a share S_n of its length and sticks over the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from kinemorph.algebra.dual import Direction
from kinemorph.algebra.groups import act
from kinemorph.algebra.scalar import S, absolute, div, is_zero, less, maximum, minimum, minus, power, sqrt, times, where
from kinemorph.algebra.turns import Sym3, Vec3
from kinemorph.algebra.vectors import add, cross, dot, matvec, matvec_transposed, scale, sub
from kinemorph.mechanics.elements.checks import known_body, wrong
from kinemorph.mechanics.elements.contact.grounds import ground_problems
from kinemorph.mechanics.elements.contact.rim_grounds import rim_meeting
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import Effort, ElementLaw, Jump, Slot, Stiff, Wrench, plain, register
from kinemorph.mechanics.elements.places import Frame
from kinemorph.mechanics.steps.pair_forces import PairForce, PairState
from kinemorph.mechanics.trees.motions import ZERO3, ZERO_SYM
from kinemorph.mechanics.trees.tree import WORLD
from kinemorph.model.elements.forces.tires import Tire
from kinemorph.model.parameter import evaluate
from kinemorph.model.robot import Robot

LITTLE = 1e-9  # slips and shares below this count as zero; derivatives stay finite there
LIGHT = 1e-6  # relative to the nominal load: below it, roots and powers of the load continue as straight lines
STILL = 1e-3  # relative to the speed `slow`: slower slip has no secant


class Patch(NamedTuple):
    """The forces of the ground on the contact patch of a tire [N] along x, y, z, and the moment [N m] about z."""

    x: S
    y: S
    z: S
    turning: S


class TireLaw(ElementLaw[Tire]):
    """The forces of the ground on the tire of a wheel."""

    contact = True

    def problems(self, element: Tire, robot: Robot) -> list[str]:
        found = known_body(element, "body", element.body, robot)
        found += ground_problems(element.name, element.ground)
        if not found and evaluate(element.crown) > evaluate(element.radius):
            problem = (
                f"crown (the radius of the tire's profile) is {evaluate(element.crown):g} m and radius is "
                f"{evaluate(element.radius):g} m; expected crown to be at most radius"
            )
            found.append(wrong(element.name, problem, "Make it smaller.", "crown"))
        if not found and not any(evaluate(x) for x in element.axis):
            found.append(
                wrong(element.name, "axis is zero; expected a direction", "Give the axis of the wheel.", "axis")
            )
        return found

    def jumps(self, element: Tire) -> Sequence[Jump]:
        what = "its aligning moment jumps where the lateral slip is 0 or balances the camber"
        return () if is_zero(element.camber) else (Jump(what, "Leave out `camber`."),)

    def signals(self, element: Tire) -> tuple[Slot, ...]:
        return Slot("load", "N"), Slot("longitudinal", "N"), Slot("lateral", "N"), Slot("aligning", "N m")

    def publish(self, element: Tire, view: ElementView) -> dict[str, S]:
        wheel = self._wheel(element, view)
        patch = wheel.patch(PairState(wheel.speed, 0.0))
        return {"load": patch.z, "longitudinal": patch.x, "lateral": patch.y, "aligning": patch.turning}

    def effort(self, element: Tire, view: ElementView) -> Effort:
        wheel = self._wheel(element, view)
        patch, frame, speed = wheel.patch(PairState(wheel.speed, 0.0)), wheel.frame, wheel.speed
        force = wheel.in_world(patch)
        moment = add(cross(wheel.arm, force), scale(patch.turning, wheel.z))
        R = frame.pose.R
        elastic = view.value(element.stiffness) * maximum(wheel.depth, 0.0)
        lost = patch.x * dot(speed, wheel.x) + patch.y * dot(speed, wheel.y) + patch.turning * wheel.turning
        return Effort(
            wrenches=(Wrench(frame, matvec_transposed(R, force), matvec_transposed(R, moment)),),
            dissipated=-lost - (patch.z - elastic) * dot(speed, wheel.z),
            stored=0.5 * elastic * maximum(wheel.depth, 0.0),
        )

    def stiff(self, element: Tire, view: ElementView) -> Stiff:
        wheel = self._wheel(element, view)
        at, patch = wheel.frame.at, wheel.patch(PairState(wheel.speed, 0.0))
        point = plain(act(at.pose, matvec_transposed(wheel.frame.pose.R, wheel.arm)))
        return Stiff(
            pairs=(
                PairForce((at.link, WORLD), (point, ZERO3), wheel, leaving=wheel.leaving),
                PairForce((at.link, WORLD), (point, ZERO3), Steady(plain(scale(patch.turning, wheel.z))), turning=True),
            )
        )

    def _wheel(self, element: Tire, view: ElementView) -> Wheel:
        value, frame = view.value, view.frame(element.body)
        R = frame.pose.R
        radius, crown = value((element.radius, element.crown))
        axis = matvec(R, value(element.axis))
        axis = scale(div(1.0, sqrt(dot(axis, axis))), axis)
        center = matvec(R, value(element.center))
        rim = radius - crown
        way, height, z = rim_meeting(element.ground, add(frame.pose.p, center), axis, rim, value)
        across = cross(axis, z)
        x = scale(div(1.0, sqrt(maximum(dot(across, across), LITTLE * LITTLE))), across)
        low = height - crown
        lift = div(1.0, 3.0) * minimum(low, 0.0)  # slip is measured at two thirds of the depth
        arm = sub(add(center, scale(rim, way)), scale(crown + lift, z))
        origin, spin = matvec(R, frame.velocity), matvec(R, frame.turning)
        return Wheel(
            *(element, value, frame, plain(arm), plain(x), plain(cross(z, x)), z),
            speed=plain(add(origin, cross(spin, arm))),
            turning=dot(spin, z),
            rolling=dot(add(origin, cross(spin, center)), x),
            tilt=dot(axis, z),
            depth=-low,
            radius=radius,
            leaving=plain(cross(spin, scale(dot(spin, axis), cross(axis, sub(arm, center))))),
        )


@dataclass(frozen=True, eq=False)
class Wheel:
    """A wheel at one instant: the force of the ground on it, in world axes.

    An implicit step evaluates it at the end of the step (see `mechanics.steps.implicit_forces`).
    Within a step the axes, the camber and the speed of its center stay as they are at the start of the step, and the
    ground is the plane that touches it at the contact; the slip and the depth change with the velocity at the contact.
    """

    element: Tire
    value: Any
    frame: Frame
    arm: Vec3  # from the frame's origin to the contact, in world axes [m]
    x: Vec3  # the rolling direction
    y: Vec3  # to its left
    z: Vec3  # the normal of the ground
    speed: Vec3  # the velocity of the wheel at the contact [m/s]
    turning: S  # its angular velocity about the normal [rad/s]
    rolling: S  # the speed of its center along x [m/s]
    tilt: S  # the sine of camber
    depth: S  # [m], below 0 in the air
    radius: S  # [m]
    leaving: Vec3  # the acceleration [m/s^2] by which the spin takes points of the wheel away from the contact

    def patch(self, pair: PairState) -> Patch:
        """The forces of the ground on the tire, where `pair` is the motion of the wheel at the contact."""
        slipping = dot(pair.velocity, self.x)
        slow = self.value(self.element.slow)
        fast = maximum(absolute(self.rolling), absolute(self.rolling - slipping))
        reference = maximum(fast, slow)
        leaning = self.tilt * div(fast, reference)  # a wheel at rest that leans is not pushed aside
        slips = div(slipping, reference), div(dot(pair.velocity, self.y), reference), leaning
        depth = maximum(minus(self.depth, dot(pair.moved, self.z)), 0.0)
        return ground_forces(self.element, self.value, slips, depth, dot(pair.velocity, self.z), self.radius)

    def in_world(self, patch: Patch) -> Vec3:
        """The force [N] of a contact patch, in world axes."""
        return plain(add(add(scale(patch.x, self.x), scale(patch.y, self.y)), scale(patch.z, self.z)))

    def force(self, pair: PairState) -> Vec3:
        """The force [N] of the ground on the wheel, in world axes."""
        return self.in_world(self.patch(pair))

    def stored(self, pair: PairState) -> S:
        """The energy [J] stored in the tire."""
        depth = maximum(minus(self.depth, dot(pair.moved, self.z)), 0.0)
        return 0.5 * self.value(self.element.stiffness) * depth * depth

    def linear(self, pair: PairState, h: S) -> tuple[Vec3, Sym3]:
        """(force, D) for a step of h [s]; D is the inertia that the force adds, see `point_states.PointLaw.linear`.

        It has the derivatives of the three forces along their own axes.
        """
        d, axes = [], (self.x, self.y, self.z)
        upright = replace(self, tilt=0.0).patch(pair)  # camber pushes without slip too
        along = Direction()
        for k, axis in enumerate(axes):
            moved = PairState(plain(along.all_moved(pair.velocity, axis)), h)
            base = tuple(minus(now, times(h, u)) for now, u in zip(pair.moved, pair.velocity, strict=True))
            patch = replace(self, depth=minus(self.depth, dot(base, self.z))).patch(moved)
            slope = maximum(times(-h, along.tangent(patch[k])), 0.0)
            if k < 2:  # where the patch skids the slope vanishes; with the secant a step does not jump over rest
                slip = dot(pair.velocity, axis)
                still = times(STILL, self.value(self.element.slow))
                secant = div(times(-h, upright[k] * slip), slip * slip + still * still)
                slope = maximum(slope, secant)
            d.append(slope)
        rows = [[times(d[k], axis[i]) for k, axis in enumerate(axes)] for i in range(3)]
        columns = [[axis[i] for axis in axes] for i in range(3)]
        xx, xy, xz, yy, yz, zz = (dot(rows[i], columns[j]) for i in range(3) for j in range(i, 3))
        return self.force(pair), (xx, xy, xz, yy, yz, zz)


@dataclass(frozen=True)
class Steady:
    """A force or moment that stays as it is at the start of a step."""

    given: Vec3

    def force(self, pair: PairState) -> Vec3:
        """The constant force [N] or moment [N m]."""
        return self.given

    def linear(self, pair: PairState, h: S) -> tuple[Vec3, Sym3]:
        """(force, D) for an implicit step; the added inertia D is 0, as the force does not change in the step."""
        return self.given, ZERO_SYM


def ground_forces(element: Tire, value: Any, slips: tuple[S, S, S], depth: S, rising: S, radius: S) -> Patch:
    """The forces of the ground at slips (s_x, s_y, sine of camber), a depth [m] and a speed of rising [m/s].

    `value` looks up parameters; `radius` [m] is that of the tire.
    """
    load, stiffness, damping = value((element.load, element.stiffness, element.damping))
    relative = div(stiffness * depth, load)
    root = div(relative, sqrt(maximum(relative, LIGHT)))  # the square root, with a finite derivative at zero depth
    fz = maximum(stiffness * depth - damping * root * rising, 0.0)
    touches = less(0.0, fz)
    share = div(where(touches, fz, load), load)
    cx, cy, cc = (
        value(nominal) * share * power(maximum(share, LIGHT), value(exponent) - 1.0)
        for nominal, exponent in (
            (element.longitudinal, element.longitudinal_exponent),
            (element.lateral, element.lateral_exponent),
            (element.camber, element.camber_exponent),
        )
    )
    long_patch = sqrt(8.0 * radius * where(touches, depth, div(load, stiffness)))
    fx, fy, turning = _shear(slips, (cx, cy, cc), share * load, value((element.static, element.kinetic)), long_patch)
    return Patch(where(touches, fx, 0.0), where(touches, fy, 0.0), fz, where(touches, turning, 0.0))


def _shear(
    slips: tuple[S, S, S], stiffnesses: tuple[S, S, S], fz: S, friction: tuple[S, S], length: S
) -> tuple[S, S, S]:
    """(Fx [N], Fy [N], Mz [N m]) of a contact patch of this length [m] under a load fz [N].

    `slips` and `stiffnesses` are longitudinal, lateral and by camber; `friction` is (static, kinetic).
    """
    sx, sy, sc = slips
    cx, cy, cc = stiffnesses
    slip = sqrt(sx * sx + sy * sy + LITTLE * LITTLE)
    slid = minimum(slip, 1.0)
    grip = (friction[0] * (1.0 - slid) + friction[1] * slid) * fz
    ax, ay, c = div(cx * sx, 3.0 * grip), div(cy * sy, 3.0 * grip), div(cc * sc, grip)
    skids = less(1.0, ax * ax + (ay + c) * (ay + c))
    room = where(skids, 1.0, maximum(1.0 - c * c, LITTLE))
    within = maximum(ay * ay * c * c + room * (ax * ax + ay * ay), 0.0) + LITTLE * LITTLE
    lost = minimum(where(skids, 1.0, div(ay * c + sqrt(within), room)), 1.0)  # S_n, 1 where all of it skids
    stuck = 1.0 - lost
    stuck2, stuck3 = stuck * stuck, stuck * stuck * stuck
    ux, uy = div(sx, slip), div(sy, slip)
    sliding = grip * (1.0 - 3.0 * stuck2 + 2.0 * stuck3)
    fx = -cx * sx * stuck2 - sliding * ux
    fy = -cy * sy * stuck2 - sliding * uy - cc * sc * stuck2 * (3.0 - 2.0 * stuck)
    # the moment: of longitudinal forces on the bent patch, and of lateral forces behind its middle
    bent = 1.0 - 10.0 * stuck3 + 15.0 * stuck3 * stuck - 6.0 * stuck3 * stuck2
    moment = -div(2.0, 3.0) * cx * sx * sy * length * stuck3 - div(0.6 * grip * grip * ux * uy * length * bent, cy)
    same = less(0.0, cy * sy * (cy * sy + cc * sc))
    behind = (cy * sy * (-0.5 + div(2.0, 3.0) * stuck) + 1.5 * (grip * uy - cc * sc) * lost * lost) * length * stuck2
    return fx, fy, moment + where(same, behind, cy * sy * length * stuck * div(1.0, 6.0))


register(Tire, TireLaw())
