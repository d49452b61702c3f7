"""Building takes a time that grows as the robot does, whatever its shape, and whether it is sound or not."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

import pytest

from kinemorph.model.building.builder import RobotBuilder

FEW, MANY = 125, 1000
SLACK = 2.5  # how much worse than in proportion; a quadratic part shows as 8


def body(builder: RobotBuilder, name: str) -> None:
    builder.body(name, 1.0, com=(0.0, 0.1, 0.0), inertia=((0.1, 0.01, 0.0), (0.01, 0.1, 0.0), (0.0, 0.0, 0.1)))


def bodies(n: int) -> RobotBuilder:
    builder = RobotBuilder("r")
    for k in range(n):
        body(builder, f"b{k}")
    return builder


def hang(builder: RobotBuilder, k: int, parent: str, kind: str = "revolute") -> None:
    builder.joint(f"j{k}", kind, parent, f"b{k}", translation=(0.1, 0.0, 0.0), axis=(0.0, 1.0, 0.0), lower=-1, upper=1)


def chain(n: int) -> RobotBuilder:
    builder = bodies(n)
    for k in range(n):
        hang(builder, k, f"b{k - 1}" if k else "world")
    return builder


def chain_from_the_tip(n: int) -> RobotBuilder:
    builder = bodies(n)
    for k in reversed(range(n)):
        hang(builder, k, f"b{k - 1}" if k else "world")
    return builder


def fan(n: int) -> RobotBuilder:
    builder = bodies(n)
    for k in range(n):
        hang(builder, k, "b0" if k else "world")
    return builder


def many_roots(n: int) -> RobotBuilder:
    builder = bodies(n)
    for k in range(n):
        builder.root(f"b{k}", "free")
    return builder


def many_frames(n: int) -> RobotBuilder:
    builder = chain(1)
    for k in range(4 * n):
        builder.frame(f"f{k}", "b0", translation=(0.0, 0.0, 0.1))
    return builder


def followers_in_a_row(n: int) -> RobotBuilder:
    builder = fan(n)
    for k in range(1, n - 1):
        builder.couple(f"j{k + 1}", f"j{k}")
    return builder


def followers_in_a_circle(n: int) -> RobotBuilder:
    return followers_in_a_row(n).couple("j1", f"j{n - 1}")


def many_loops(n: int) -> RobotBuilder:
    builder = fan(n)
    for k in range(2, n):
        builder.joint(f"l{k}", "spherical", f"b{k - 1}", f"b{k}")
    return builder


def ring_adrift(n: int) -> RobotBuilder:
    builder = bodies(n)
    for k in range(n):
        hang(builder, k, f"b{(k - 1) % n}")
    return builder


def nothing_hangs(n: int) -> RobotBuilder:
    return bodies(n)


def unknown_parents(n: int) -> RobotBuilder:
    builder = bodies(n)
    for k in range(n):
        hang(builder, k, f"c{k}")
    return builder


def one_name_for_all(n: int) -> RobotBuilder:
    builder = RobotBuilder("r").joint("j", "free", "world", "b")
    for _ in range(n):
        body(builder, "b")
    return builder


def nothing_but_nan(n: int) -> RobotBuilder:
    builder = RobotBuilder("r")
    for k in range(n):
        builder.body(f"b{k}", float("nan"), com=(1.0, 2.0), inertia=(-1.0, 0.0, "x")).root(f"b{k}", "fired")
    return builder


def massless_chain(n: int) -> RobotBuilder:
    builder = RobotBuilder("r")
    for k in range(n):
        builder.body(f"b{k}")
        hang(builder, k, f"b{k - 1}" if k else "world")
    return builder


SOUND = (chain, chain_from_the_tip, fan, many_roots, many_frames, followers_in_a_row, many_loops)
UNSOUND = (
    followers_in_a_circle,
    ring_adrift,
    nothing_hangs,
    unknown_parents,
    one_name_for_all,
    nothing_but_nan,
    massless_chain,
)


def seconds(make: Callable[[int], RobotBuilder], n: int) -> float:
    """CPU time of judging n bodies, without the collector's share."""
    builder = make(n)
    gc.collect()
    gc.disable()
    try:
        start = time.process_time()
        verdict = builder.judged()
        if verdict.robot is not None:
            assert len(verdict.robot.order) == len(verdict.robot.joints)
        return time.process_time() - start
    finally:
        gc.enable()


@pytest.mark.slow
@pytest.mark.parametrize("make", [*SOUND, *UNSOUND], ids=lambda make: make.__name__)
def test_time_grows_as_the_robot_does(make: Callable[[int], RobotBuilder]) -> None:
    assert (make(FEW).judged().robot is None) == (make in UNSOUND)
    ratio = MANY / FEW
    for _ in range(3):  # a busy machine may spoil a measurement, but not every one
        if seconds(make, MANY) <= SLACK * ratio * max(min(seconds(make, FEW) for _ in range(3)), 1e-3):
            return
    pytest.fail(f"{make.__name__}: {MANY} bodies take more than {SLACK} * {ratio:g} times as long as {FEW}")


@pytest.mark.slow
@pytest.mark.parametrize("make", [*SOUND, *UNSOUND], ids=lambda make: make.__name__)
def test_ten_thousand_bodies(make: Callable[[int], RobotBuilder]) -> None:
    assert seconds(make, 10_000) < 5.0
