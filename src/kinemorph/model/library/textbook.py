"""Textbook robots with named parameters: pendulum, double pendulum, crane, cart-pole, chain.

They move in the vertical x-z plane and hang along -z at q = 0; only the pole of the cart-pole stands. Joint axes are
-y, or y for what stands, so that a positive angle swings the load toward +x, as in textbooks. Angles are relative to
the previous link.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinemorph.errors import ModelError
from kinemorph.model.body import Body, Vector
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.joint import Axis
from kinemorph.model.parameter import Parameter
from kinemorph.model.robot import Robot

SWING: Axis = (0.0, -1.0, 0.0)
LONGEST_CHAIN = 2000  # links; a longer chain would take too long to build


def mass_parameter(index: int, value: float) -> Parameter:
    """A mass parameter [kg] named m1, m2, ..., printed as m_1, m_2, ... in equations."""
    return Parameter(f"m{index}", value, "kg", f"m_{{{index}}}")


def length_parameter(index: int, value: float) -> Parameter:
    """A length parameter [m] named l1, l2, ..., printed as l_1, l_2, ... in equations."""
    return Parameter(f"l{index}", value, "m", f"l_{{{index}}}")


def planet() -> Vector:
    """The gravity vector along -z, with its magnitude as the parameter g [m/s^2]."""
    return (0.0, 0.0, -Parameter("g", 9.81, "m/s^2", "g"))


def hanging_link(name: str, mass: Parameter, length: Parameter, *, point: bool) -> Body:
    """A uniform rod from the origin down to -length along z, or a point mass at its end."""
    if point:
        return Body.point(name, mass, (0.0, 0.0, -length), radius=0.06 * length)
    return Body.rod(name, mass, length, (0.0, 0.0, -0.5 * length), radius=0.02 * length)


def pendulum(mass: float = 1.0, length: float = 1.0, *, point: bool = True) -> Robot:
    """A pendulum of `mass` [kg] and `length` [m]: a point mass on a massless rod, or (`point=False`) a uniform rod."""
    m, l = mass_parameter(1, mass), length_parameter(1, length)
    builder = RobotBuilder("pendulum", gravity=planet()).add(hanging_link("link1", m, l, point=point))
    builder.joint("q1", "revolute", "world", "link1", axis=SWING)
    return builder.frame("tip", "link1", translation=(0.0, 0.0, -l)).build()


def _pair(name: str, values: Sequence[float], unit: str) -> tuple[float, float]:
    """The two values of an argument of `double_pendulum`."""
    try:
        first, second = values
    except (TypeError, ValueError):
        raise ModelError(
            f"double_pendulum: {name} is {values!r}; expected two numbers [{unit}]. Give one for each rod: (1.0, 0.5)."
        ) from None
    return first, second


def double_pendulum(
    masses: Sequence[float] = (1.1, 0.9), lengths: Sequence[float] = (1.2, 1.1), *, point: bool = False
) -> Robot:
    """Two uniform rods (or, with `point=True`, point masses on massless rods) of `masses` [kg] and `lengths` [m].

    The second angle is relative to the first rod. The defaults are the example of the EasyDyn paper: inertia m l^2 / 12
    about the center of each rod.
    """
    (m1, m2), (l1, l2) = _pair("masses", masses, "kg"), _pair("lengths", lengths, "m")
    first, second = length_parameter(1, l1), length_parameter(2, l2)
    builder = RobotBuilder("double_pendulum", gravity=planet()).add(
        hanging_link("link1", mass_parameter(1, m1), first, point=point),
        hanging_link("link2", mass_parameter(2, m2), second, point=point),
    )
    builder.joint("q1", "revolute", "world", "link1", axis=SWING)
    builder.joint("q2", "revolute", "link1", "link2", translation=(0.0, 0.0, -first), axis=SWING)
    return builder.frame("tip", "link2", translation=(0.0, 0.0, -second)).build()


def crane(cart: float = 2.0, load: float = 1.0, length: float = 1.0) -> Robot:
    """A cart of mass `cart` [kg] moving along x, with a point mass `load` [kg] on a rod of `length` [m] below it."""
    m, l = mass_parameter(2, load), length_parameter(1, length)
    trolley = Body.box("cart", mass_parameter(1, cart), (0.4, 0.2, 0.15))
    builder = RobotBuilder("crane", gravity=planet()).add(trolley, hanging_link("load", m, l, point=True))
    builder.joint("x", "prismatic", "world", "cart", axis=(1.0, 0.0, 0.0))
    builder.joint("theta", "revolute", "cart", "load", axis=SWING)
    return builder.frame("hook", "load", translation=(0.0, 0.0, -l)).build()


def cartpole(cart: float = 1.0, pole: float = 0.2, length: float = 0.6) -> Robot:
    """A cart of mass `cart` [kg] on a rail along x, with a uniform rod of mass `pole` [kg] and `length` [m] on a hinge.

    The rod stands up at theta = 0, where it is not stable; a positive angle leans it toward +x. A force on x
    drives the cart, and the hinge is passive: R={"x": 1.0} of `lqr` says so.
    """
    m, l = mass_parameter(2, pole), length_parameter(1, length)
    builder = RobotBuilder("cartpole", gravity=planet()).add(
        Body.box("cart", mass_parameter(1, cart), (0.25, 0.15, 0.1)),
        Body.rod("pole", m, l, (0.0, 0.0, 0.5 * l), radius=0.02 * l),
    )
    builder.joint("x", "prismatic", "world", "cart", axis=(1.0, 0.0, 0.0))
    builder.joint("theta", "revolute", "cart", "pole", axis=(0.0, 1.0, 0.0))
    return builder.frame("tip", "pole", translation=(0.0, 0.0, l)).build()


def chain(n: int = 10, mass: float = 0.1, length: float = 0.1) -> Robot:
    """A hanging chain of `n` equal uniform rods; `mass` [kg] and `length` [m] of a rod are its parameters m and l."""
    if not 1 <= n <= LONGEST_CHAIN:
        raise ModelError(f"chain: n is {n}, expected 1 to {LONGEST_CHAIN} links. Choose a number in that range.")
    m, l = Parameter("m", mass, "kg", "m"), Parameter("l", length, "m", "l")
    builder = RobotBuilder(f"chain{n}", gravity=planet())
    for i in range(1, n + 1):
        builder.add(hanging_link(f"link{i}", m, l, point=False))
        parent, offset = ("world", 0.0) if i == 1 else (f"link{i - 1}", -l)
        builder.joint(f"q{i}", "revolute", parent, f"link{i}", translation=(0.0, 0.0, offset), axis=SWING)
    return builder.frame("tip", f"link{n}", translation=(0.0, 0.0, -l)).build()
