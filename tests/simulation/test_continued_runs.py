"""Looking never changes a run: neither a guard that only records, nor an end from which another run goes on."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinemorph import (
    Body,
    Guard,
    Parameter,
    RobotBuilder,
    System,
    Trajectory,
    elements,
    library,
    load_trajectory,
    simulate,
)
from kinemorph.errors import OptionWarning
from kinemorph.plants import plant
from kinemorph.simulation.integrators.methods import METHODS
from support.tools.each_case import each_case

pytestmark = pytest.mark.filterwarnings("ignore")  # steps are coarse on purpose
END = 0.4  # [s]
START = {"q": [0.0, 0.0, 0.06, 1.0, 0.05, 0.02, 0.0, 0.2], "v": [0.3, 0.0, 0.0, 1.0, 2.0, 3.0, 0.0]}
FEW = (
    "rk4",
    "dop853",
    "rodas",
    "radau",
    "generalized_alpha",
    "variational",
    "implicit_contact",
    "extrapolated_contact",
)


def system(method: str) -> System:
    """A box with an arm that falls on a corner; for `variational`, which knows no contacts, a box in flight."""
    builder = RobotBuilder("box").add(Body.box("box", 1.0, (0.3, 0.2, 0.1)))
    builder.add(Body.rod("arm", 0.3, 0.3, center=(0.0, 0.0, -0.15)))
    builder.joint("flies", "free", "world", "box").joint(
        "elbow", "revolute", "box", "arm", axis=(1, 0, 0), damping=0.01
    )
    normal, friction = elements.HuntCrossley(2e3, 0.3), elements.Regularized(0.5, 1e-2)
    if method == "moreau":
        normal, friction = elements.Rigid(0.0), elements.Coulomb(0.5)
    corners = [(x, y, -0.05) for x in (-0.15, 0.15) for y in (-0.1, 0.1)]
    soles = [elements.Contact(f"sole{k}", "box", normal, friction, point=at) for k, at in enumerate(corners)]
    hold = elements.PD("hold", joints=("elbow",), reference=(0.3,), kp=(5.0,), kd=(0.05,))
    return System(builder.build(), (hold,) if method in ("variational", "leapfrog", "yoshida4") else (*soles, hold))


def options(method: str) -> dict[str, Any]:
    step = 1e-4 if method in ("euler", "semi_implicit_euler") else 1e-3
    return {"method": method, "output_step": 0.1} | ({} if METHODS[method].adaptive else {"step": step})


def in_pieces(model: System, ends: list[float], folder: Path | None, **given: Any) -> Trajectory:
    """The last of the runs that end at these times [s], each from the end of the one before, by way of a file."""
    run = None
    for k, end in enumerate(ends):
        run = simulate(model, end, **(START if run is None else {"start": run}), **given)
        if folder is not None:
            run.save(folder / f"run{k}.npz")
            run = load_trajectory(folder / f"run{k}.npz", model=model)
    assert run is not None
    return run


def check_pieces(method: str, count: int, folder: Path | None) -> None:
    model, given = system(method), options(method)
    ends = [*np.sort(np.random.default_rng(count).uniform(0.01, 0.99 * END, count - 1)).tolist(), END]
    one, last = simulate(model, END, **START, **given), in_pieces(model, ends, folder, **given)
    assert last.outcome.kind == "finished"
    assert np.concatenate([last.q[-1], last.v[-1]]) == pytest.approx(np.concatenate([one.q[-1], one.v[-1]]), rel=1e-12)


@each_case("method", FEW)
def test_a_run_in_pieces_ends_where_one_run_does(method: str) -> None:
    """The last step of a piece is cut short: the next one takes it as a whole, with all that the method remembers."""
    check_pieces(method, 5, None)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_a_run_in_fifty_pieces_by_way_of_files_ends_where_one_run_does(method: str, tmp_path: Path) -> None:
    check_pieces(method, 50, tmp_path)


@pytest.mark.parametrize("ending", ["npz", "h5"])
def test_files_have_what_the_next_piece_needs(ending: str, tmp_path: Path) -> None:
    if ending == "h5":
        pytest.importorskip("h5py")
    model, given = system("implicit_contact"), options("implicit_contact")
    simulate(model, 0.1237, **START, **given).save(tmp_path / f"run.{ending}")
    last = simulate(model, END, start=load_trajectory(tmp_path / f"run.{ending}", model=model), **given)
    assert last.v[-1] == pytest.approx(simulate(model, END, **START, **given).v[-1], rel=1e-12)


def test_samples_of_a_continued_run_are_those_of_one_run() -> None:
    model, times = system("extrapolated_contact"), [0.1237, 0.2, 0.3, END]
    given = {**options("extrapolated_contact"), "output_step": times}
    one, begun = (
        simulate(model, END, **START, **given),
        simulate(model, times[0], **START, **{**given, "output_step": 1.0}),
    )
    last = simulate(model, END, start=begun, **given)
    assert last.t.tolist() == times
    assert last.q == pytest.approx(one.q[1:], rel=1e-12, abs=1e-12)


def bounces(until: float, **given: Any) -> Trajectory:
    """A ball that bounces, by a reset; a guard that only records notes its highest points."""
    builder = (
        RobotBuilder("ball").add(Body.sphere("ball", 1.0, 0.1)).joint("z", "prismatic", "world", "ball", axis=(0, 0, 1))
    )
    ground = Guard("ground", lambda q: q[0], "falling", reset=lambda v: {"v": [-0.7 * v[0]]})
    top = Guard("top", lambda v: v[0], "falling")
    return simulate(builder.build(), until, **({"q": [0.3]} | given), method="dop853", events=[ground, top])


def test_events_of_a_run_in_pieces_are_those_of_one_run() -> None:
    one, run, found = bounces(1.0), None, []
    for end in (0.15, 0.24, 0.31, 0.5, 0.777, 1.0):
        run = bounces(end, **({} if run is None else {"start": run, "q": None}))
        found += [(event.name, event.t) for event in run.events]
    assert [name for name, _ in found] == [event.name for event in one.events]
    # an event in the step that an end cuts short is located on the short step
    assert [t for _, t in found] == pytest.approx([event.t for event in one.events], abs=1e-9)
    assert run is not None and run.v[-1] == pytest.approx(one.v[-1], rel=1e-12)


@each_case("method", ["rk4", "rodas", "implicit_contact", "extrapolated_contact"])
def test_a_guard_that_only_records_changes_nothing(method: str) -> None:
    """Steps used to end at its events. The machine code is another, so that the last digits may differ."""
    model, given = system(method), options(method)
    low = Guard("low", lambda q: q[2] - 0.055)
    turns = Guard("turns", lambda v: v[6])
    one, seen = (simulate(model, END, **START, **given, events=events) for events in ((), (low, turns)))
    assert len(seen.events) > 3 and seen.statistics.accepted == one.statistics.accepted
    assert seen.v[-1] == pytest.approx(one.v[-1], rel=1e-9, abs=1e-9)
    for event in seen.events:
        assert event.kind == "crossing" and event.before["q"] == pytest.approx(event.after["q"])
        value = event.before["q"][2] - 0.055 if event.name == "low" else event.before["v"][6]
        assert value == pytest.approx(0.0, abs=1e-9)


def test_a_guard_ends_a_run_after_so_many_events() -> None:
    top = Guard("turns", lambda v: v[6])
    run = simulate(system("rk4"), END, **START, **options("rk4"), events=[top], most_events=2)
    assert [event.name for event in run.events] == ["turns", "turns"] and run.t[-1] == run.events[-1].t


def test_a_guard_that_stays_at_zero_is_passed() -> None:
    builder = (
        RobotBuilder("rail").add(Body.sphere("cart", 1.0, 0.1)).joint("x", "prismatic", "world", "cart", axis=(1, 0, 0))
    )
    law = {"method": "rk4", "step": 0.01}
    run = simulate(builder.build(), 1.0, v=[0.0], events=[Guard("still", lambda q: q[0])], **law)
    assert run.outcome.kind == "finished" and not run.events


def test_a_part_of_a_run_is_continued_at_its_own_end() -> None:
    model, given = system("implicit_contact"), options("implicit_contact")
    whole = simulate(model, 0.3, **START, **given)
    first = whole.segments[0]
    part = replace(first, t=first.t[:2], q=first.q[:2], v=first.v[:2], x=first.x[:2], m=first.m[:2], u=first.u[:2])
    run = simulate(model, 0.2, start=replace(whole, segments=(part,)), **given)
    assert run.t[0] == 0.1 and run.q[0] == pytest.approx(first.q[1], abs=1e-14)


@each_case("changed", [{"step": 2e-3}, {"method": "implicit_contact_2"}, {"v": [0.0] * 7}])
def test_a_run_that_continues_with_other_options_starts_at_the_end(changed: dict[str, Any]) -> None:
    model, given = system("implicit_contact"), {**options("implicit_contact"), "step": 1e-3}
    begun = simulate(model, 0.1237, **START, **given)
    again = {"q": begun.q[-1], "v": begun.v[-1], "x": begun.x[-1]}
    run = simulate(model, 0.2, start=begun, **given | changed)
    other = simulate(model, 0.2, start=0.1237, **{**again, **given, **changed})
    assert run.q[-1] == pytest.approx(other.q[-1], rel=1e-12)


def test_a_plant_with_laws_of_the_user_goes_on_where_it_is_the_same_plant(tmp_path: Path) -> None:
    builder = (
        RobotBuilder("cart").add(Body.sphere("cart", 1.0, 0.1)).joint("x", "prismatic", "world", "cart", axis=(1, 0, 0))
    )
    made = plant(builder.build(), forces=lambda t, q: [-40.0 * q[0] + t])
    one, begun = (simulate(made, end, q=[0.3], rtol=1e-4) for end in (1.0, 0.377))
    assert simulate(made, 1.0, start=begun, rtol=1e-4).v[-1] == pytest.approx(one.v[-1], rel=1e-12)
    begun.save(tmp_path / "run.npz")  # a file cannot say which law it was
    assert load_trajectory(tmp_path / "run.npz", model=made).kept is None


@pytest.mark.parametrize(
    "changed", [{"p": {"mass": 2.0}}, {"inputs": [1.0]}, {"max_step": 0.02}], ids=["p", "u", "step"]
)
def test_a_run_with_other_numbers_starts_where_the_first_one_ended(changed: dict[str, Any]) -> None:
    """The step that the end has cut short belongs to the first run: it is not taken again with other numbers."""
    builder = RobotBuilder("rod").add(Body.rod("rod", Parameter("mass", 1.0), 0.5, center=(0.1, 0.0, -0.25)))
    robot = builder.joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0), damping=0.3).build()
    given: dict[str, Any] = {"method": "rk4", "step": 0.03}
    first = simulate(robot, 0.0777, q=[0.5], p={"mass": 1.0}, **given)
    assert first.kept is not None
    here = {"q": first.q[-1], "v": first.v[-1], "start": 0.0777}
    changed = {"p": {"mass": 1.0}, **changed}
    last, wanted = (simulate(robot, 0.3, **begin, **given, **changed) for begin in ({"start": first}, here))
    assert [*last.q[-1], *last.v[-1]] == pytest.approx([*wanted.q[-1], *wanted.v[-1]], rel=1e-13)


def test_inputs_that_a_continued_run_had_are_told_if_they_are_not_given_again() -> None:
    robot = library.double_pendulum()
    begun = simulate(robot, 0.1, inputs=[1.0, 0.0])
    with pytest.warns(OptionWarning) as told:
        simulate(robot, 0.2, start=begun)
    assert str(told[0].message) == (
        "start: the run of 'double_pendulum' that is continued had inputs at its end, and none are given now, so that "
        "they are 0. Give inputs= again, or inputs=run.u[-1] for those at its end."
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        simulate(robot, 0.2, start=begun, inputs=begun.u[-1])
