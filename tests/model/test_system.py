"""A system: robot, elements and settings, checked when it is made."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from kinemorph.errors import ModelError
from kinemorph.model.library import pendulum
from kinemorph.model.system import Element, Settings, System, as_robot


@dataclass(frozen=True)
class Spring:
    """Some element."""

    name: str
    stiffness: float


def test_a_system_stands_for_its_robot() -> None:
    robot = pendulum()
    system = System(robot, (Spring("s", 3.0),), Settings(q=(0.2,)))
    assert as_robot(system) is robot and as_robot(robot) is robot
    assert isinstance(system.element("s"), Element) and system.name == "pendulum"
    q, v = system.initial_state()
    assert np.array_equal(q, [0.2]) and np.array_equal(v, [0.0])
    assert str(system) == f"<System of {robot}, 1 Spring, initial state given, 10 s>"


def test_every_mistake_of_a_system_is_reported() -> None:
    with pytest.raises(ModelError) as caught:
        System(pendulum(), (Spring("s", 1.0), Spring("s", 2.0)), Settings(q=(1.0, 2.0), v=(np.nan,), time=0.0))
    expected = ("'s': it is declared 2 times", "q has 2 entries", "v is (nan,)", "time is 0.0")
    assert all(words in problem for words, problem in zip(expected, caught.value.problems, strict=True))


def test_an_unknown_element_is_named() -> None:
    with pytest.raises(ModelError, match="no element 'x'; expected one of: 's'"):
        System(pendulum(), (Spring("s", 1.0),)).element("x")


def test_a_file_name_in_place_of_a_robot_is_to_be_loaded() -> None:
    with pytest.raises(ModelError, match=r"Use kinemorph\.load\('arm\.urdf'\)"):
        as_robot("arm.urdf")  # type: ignore[arg-type]
