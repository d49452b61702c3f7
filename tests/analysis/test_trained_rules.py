"""Derivatives through the samples of controllers, and fuzzy rules trained by them on a model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import kinemorph
from kinemorph import Parameter, System, elements, sensitivities, simulate
from kinemorph.algebra.arrays import Array
from kinemorph.analysis.trained_rules import TrainedRules, train_rules
from kinemorph.errors import ModelError, UnsupportedError
from kinemorph.model.library import amru
from kinemorph.model.library.amru_leg import LOAD, amru5_leg
from kinemorph.model.library.amru_walk import amru5_walk

QUICK: dict[str, Any] = {"method": "rk4", "step": 0.005}
NUMBERS = {"kp": 40.0, "width": 0.2, "limit": 9.0}


def pendulum(values: dict[str, Any], *, every: float | None = 0.02) -> System:
    """A pendulum that fuzzy rules move after a sinusoid, with some numbers given by name."""
    swing = elements.Sinusoid("swing", amplitude=0.5, frequency=0.7, joints="q1")
    rules = elements.FuzzyRules(
        *("rules", "q1"), inputs=("error", "integral", "rate", "swing.q1.velocity"), reference="swing", filter=0.03,
        centers=((-0.1, 0.1), (), (), ()), widths=((values["width"], 0.2), (), (), ()),
        consequents=((values["kp"], 30.0, 4.0, 0.0, 1.0), (25.0, 20.0, 5.0, 0.0, -1.0)),
        lower=-1.0 * values["limit"], upper=values["limit"], anti_windup="clamp",
        every=every, delay=0.005 if every else 0.0,
    )  # fmt: skip
    return System(kinemorph.library.pendulum(), (swing, rules))


@pytest.mark.parametrize("every", [None, 0.02])
def test_derivatives_by_the_numbers_of_rules_agree_with_differences_of_runs(every: float | None) -> None:
    """Also those of a sampled controller with a delay, whose memory has derivatives of its own, and at its limits."""
    options: dict[str, Any] = {"q": [0.3], "output_step": 0.1, **QUICK}
    named = {name: Parameter(name, value) for name, value in NUMBERS.items()}
    found = sensitivities(pendulum(named, every=every), 1.0, list(NUMBERS), **options)
    assert found.trajectory.m.shape[1] == (0 if every is None else 6)
    if every:
        assert found.trajectory["rules"].max() == NUMBERS["limit"]
    for k, (name, value) in enumerate(NUMBERS.items()):
        h = 1e-5 * value
        ends = [
            simulate(pendulum(NUMBERS | {name: value + side * h}, every=every), 1.0, **options).q
            for side in (1.0, -1.0)
        ]
        np.testing.assert_allclose(found.q[:, :, k], (ends[0] - ends[1]) / (2.0 * h), atol=1e-9)


def test_derivatives_of_a_python_controller_are_refused() -> None:
    law = elements.PythonController("law", lambda t, q: -q, reads="q.q1", drives="q1", every=0.1)
    with pytest.raises(UnsupportedError, match=r"controller 'law' is a Python function, which has no derivatives"):
        sensitivities(System(kinemorph.library.pendulum(), (law,)), 0.2, ["l1"])


def test_training_reduces_the_error_and_keeps_the_rest_of_the_system() -> None:
    system = pendulum(NUMBERS | {"limit": 200.0})
    trained = train_rules(system, until=1.0, steps=6, prior=1e-3, **QUICK)
    assert trained.after[0] < 0.3 * trained.before[0]
    assert list(trained.history) == sorted(trained.history, reverse=True)
    (rules,) = trained.controllers
    assert trained.system.element("rules") == rules
    run = simulate(trained.system, 1.0, output_step=0.01, **QUICK)
    np.testing.assert_allclose(np.sqrt(np.mean(run["rules.error"] ** 2)), trained.after[0], rtol=1e-9)
    other = trained.in_system(pendulum(NUMBERS, every=None)).element("rules")
    assert other == replace(rules, every=None, delay=0.0, lower=-9.0, upper=9.0)


def test_wrong_arguments_of_training_are_named() -> None:
    system = pendulum(NUMBERS)
    with pytest.raises(ModelError, match=r"has no FuzzyRules 'rule'. Did you mean 'rules'"):
        train_rules(system, "rule")
    with pytest.raises(ModelError, match=r"system 'pendulum' has no FuzzyRules"):
        train_rules(System(kinemorph.library.pendulum()))
    with pytest.raises(UnsupportedError, match=r"since is 9 s; expected a time from 0 to 1 s"):
        train_rules(system, until=1.0, since=9.0)
    with pytest.raises(UnsupportedError, match=r"numbers is \('gains',\); expected some of 'consequents'"):
        train_rules(system, until=1.0, numbers=("gains",))  # type: ignore[arg-type]
    with pytest.raises(UnsupportedError, match=r"prior is -1; expected a finite number of at least 0"):
        train_rules(system, until=1.0, prior=-1.0)
    with pytest.raises(ModelError, match=r"amru5_leg: controller is 'fuzzy', expected 'pid'"):
        amru5_leg("fuzzy")  # type: ignore[arg-type]
    with pytest.raises(ModelError, match=r"amru5_leg: load is -1 N"):
        amru5_leg(load=-1.0)


# ── one leg of AMRU5 ──────────────────────────────────────────────────────────────────────────────────────────────────


def tracking(system: System) -> Array:
    """The RMS errors of the three drives of the leg over two cycles of the walk [rad, m, m]."""
    run = simulate(system, 9.0, output_step=0.005)
    late = run.t >= 1.0
    voltages = [run[name] for name in run.columns if name in ("pid.q6", "pid.q7", "pid.q8")]
    voltages += [run[f"rules_{drive}"] for drive in ("rotation", "vertical", "horizontal") if f"rules_{drive}" in run]
    assert len(voltages) == 3
    assert max(abs(u).max() for u in voltages) <= 12.0
    return np.array([np.sqrt(np.mean((run[f"gait.{q}"] - run[f"q.{q}"])[late] ** 2)) for q in ("q6", "q7", "q8")])


@pytest.mark.slow
def test_trained_rules_of_a_leg_follow_the_walk_better_than_the_pid() -> None:
    """At the load of the training and at 30 % more, sampled every 10 ms as trained, and continuous, within 12 V."""
    for sampling in ("sampled", "continuous"):
        for load in (LOAD, 1.3 * LOAD):
            pid, initial, trained = (
                tracking(amru5_leg(controller, sampling, load=load))  # type: ignore[arg-type]
                for controller in ("pid", "initial rules", "trained rules")
            )
            np.testing.assert_allclose(initial, pid, rtol=1e-9 if sampling == "sampled" else 0.01)
            assert (trained < (0.15, 0.27, 0.15) * pid).all(), (sampling, load, trained / pid)


@pytest.mark.slow
def test_training_of_a_leg_reduces_its_errors_at_other_loads_too() -> None:
    """Trained under the load of a tripod from rules equal to the PID, as the rules in the library were."""
    found: TrainedRules = train_rules(amru5_leg("initial rules"), since=1.0, steps=12, method="rk4", step=0.002)
    assert (np.array(found.after) < 0.27 * np.array(found.before)).all()
    for load in (LOAD, 1.3 * LOAD):
        pid = tracking(amru5_leg(load=load))
        assert (tracking(found.in_system(amru5_leg("initial rules", load=load))) < 0.27 * pid).all()


@pytest.mark.slow
def test_trained_rules_drive_all_legs_of_the_walk() -> None:
    """They were trained on one leg with a given load; on the ground the errors of all drives are smaller, too."""
    walk, leg = amru5_walk(), amru5_leg("trained rules")
    rules = []
    for number in amru.LEGS:
        for joint, drive in zip(amru.leg_coordinates(number), amru.DRIVES, strict=True):
            one = leg.element(f"rules_{drive}")
            assert isinstance(one, elements.FuzzyRules)
            inputs = (*one.inputs[:3], f"gait.{joint}", f"gait.{joint}.velocity")
            name, motor = f"rules{number}_{drive}", f"motor{number}_{drive}"
            rules.append(replace(one, name=name, joints=joint, drives=motor, inputs=inputs))
    other = replace(walk, elements=(*(one for one in walk.elements if one.name != "pid"), *rules))
    errors = []
    for system in (walk, other):
        run = simulate(system, 9.0)
        late = run.t >= 1.0
        assert np.ptp(run["q.q1"][late]) > 0.35
        coordinates = [amru.leg_coordinates(number) for number in amru.LEGS]
        e = np.array([[(run[f"gait.{q}"] - run[f"q.{q}"])[late] for q in three] for three in coordinates])
        errors.append(np.sqrt(np.mean(e**2, axis=(0, 2))))
    assert (errors[1] < (0.8, 0.35, 0.65) * errors[0]).all(), errors[1] / errors[0]
