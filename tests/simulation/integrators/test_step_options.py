"""Options of steps: resolved once, under their names of today and of before."""

import gc
import inspect
import math
import warnings
from typing import Any
from weakref import ref

import pytest

import kinemorph
from kinemorph import Stepper, library, simulate, simulate_batch
from kinemorph.errors import OptionWarning, UnsupportedError
from kinemorph.frozen import kept_with
from kinemorph.model.system import Settings, System
from kinemorph.simulation.foreign.stepper import ForeignStepper
from kinemorph.simulation.stepping.plant_stepper import PlantStepper
from kinemorph.simulation.stepping.step_options import UNBOUNDED, StepOptions, step_options


def test_defaults_are_filled_in_once():
    plant = kinemorph.plants.plant(library.pendulum())
    none: dict[str, Any] = dict.fromkeys(("method", "step", "rtol", "atol")) | {"max_step": math.inf}
    assert step_options(plant, **none) == StepOptions("dop853", None, 1e-8, 1e-10, UNBOUNDED, 1e-12)
    assert step_options(plant, "rk4", 0.1, 1e-3, None, 2.0) == StepOptions("rk4", 0.1, 1e-3, 1e-10, 2.0, 1e-12)
    assert step_options(plant, **none | {"method": "implicit_contact"}).step == 1e-3
    assert step_options(plant, **none | {"method": "implicit_contact", "max_step": 1e-4}).step == 1e-4
    for given in ({"max_step": 0.0}, {"min_step": -1.0}, {"rtol": "tight"}):
        with pytest.raises(UnsupportedError, match=f"{next(iter(given))} is .*expected a number above 0"):
            step_options(plant, **none | given)


def test_a_constant_step_is_taken_as_it_is_whatever_the_settings_say():
    system = System(library.pendulum(), settings=Settings(max_step=0.01))
    assert simulate(system, 0.1, method="rk4", step=0.05).statistics.accepted == 2
    assert simulate(system, 0.1, method="rk4", step=0.05, max_step=0.02).statistics.accepted == 5
    assert simulate(system, 0.1).statistics.accepted >= 10


def test_tolerances_beside_constant_steps_are_told():
    robot = library.pendulum()
    with pytest.warns(
        OptionWarning, match=r"rtol=1e-09 has no effect: all steps of method 'rk4' have the size step=0.01"
    ):
        simulate(robot, 0.1, method="rk4", step=0.01, rtol=1e-9)
    with pytest.warns(OptionWarning, match=r"rtol=1e-09 and atol=1e-10 have no effect"):
        simulate_batch(robot, 0.1, step=0.01, rtol=1e-9, atol=1e-10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        simulate(robot, 0.1, rtol=1e-9)
        kinemorph.sensitivities(robot, 0.1, initial="all", method="rk4", step=0.01)


def test_signatures_show_the_new_names_only():
    for function in (simulate, simulate_batch, Stepper, ForeignStepper, kinemorph.sensitivities):
        names = set(inspect.signature(function).parameters)
        assert not names & {"largest", "smallest", "sample", "args", "kwargs"}
        assert names & {"max_step", "output_step"}


def test_both_kinds_of_steppers_keep_one_interface():
    public = {name for name in vars(PlantStepper) if not name.startswith("_")}
    assert {"state", "place", "close", "through", "advance", "step", "tick", "push"} <= public
    for method, kind in (("dop853", Stepper), ("scipy:DOP853", ForeignStepper)):
        stepper = kind(library.pendulum(), method=method, q=[1.0], rtol=1e-10)
        assert stepper.advance(0.5).t == 0.5 and stepper.counts[0] > 0
        stepper.place(0.0, q=[1.0], v=[0.0])
        assert stepper.advance(0.5).q == pytest.approx(kind(library.pendulum(), method=method, q=[1.0]).advance(0.5).q)


def test_what_is_kept_with_an_object_is_made_once_and_goes_with_it():
    class Owner:
        pass

    made = []

    @kept_with
    def numbers(owner: Owner) -> list[int]:
        made.append(1)
        return [len(made)]

    first, second = Owner(), Owner()
    assert numbers(first) is numbers(first) and numbers(second) == [2] and len(made) == 2
    gone = ref(first)
    del first
    gc.collect()
    assert gone() is None
