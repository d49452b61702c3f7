"""Initial values that are stated by name: they stay as they are, and the others follow for the parameters of the run.

In model files, starts, run plans, studies, programs and Python alike. The references are closed forms: the angles of a
four-bar as the intersection of two circles, and the place and the speed of a slider on a crank.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinemorph import (
    Body,
    RobotBuilder,
    System,
    elements,
    library,
    linearize,
    load,
    load_text,
    save,
    sensitivities,
    simulate,
    simulate_batch,
)
from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.codegen.building.compile import build
from kinemorph.errors import ModelWarning, ShapeError
from kinemorph.mechanics.constraints.newton_closing import assembled
from kinemorph.model.robot import Robot
from kinemorph.model.system import Settings
from kinemorph.plants import plant
from kinemorph.programs import make_job
from kinemorph.simulation.planned_run import prepared_run
from kinemorph.simulation.stepping.stepper import Stepper
from kinemorph.studies import Range, Space, sweep

FOUR_BAR = """
kinemorph = 1
name = "four bar"

[parameters]
crank = 0.3
coupler = 0.9
rocker = 0.7

[bodies]
crank = { mass = 0.5, com = ["crank / 2", 0, 0], inertia = [0.001, 0.004, 0.004] }
coupler = { mass = 1.0, com = ["coupler / 2", 0, 0], inertia = [0.001, 0.07, 0.07] }
rocker = { mass = 0.8, com = ["rocker / 2", 0, 0], inertia = [0.001, 0.03, 0.03] }

[joints]
drive = { kind = "revolute", parent = "world", child = "crank", axis = "-y" }
knee = { kind = "revolute", parent = "crank", child = "coupler", translation = ["crank", 0, 0], axis = "-y" }
pivot = { kind = "revolute", parent = "world", child = "rocker", translation = [1, 0, 0], axis = "-y" }

[joints.closure]
kind = "revolute"
parent = "coupler"
child = "rocker"
translation = ["coupler", 0, 0]
child_placement = { translation = ["rocker", 0, 0] }
axis = "-y"

[settings]
q = { drive = 0.6 }
v = { drive = 2.0 }
"""


def file_of(text: str, place: Path) -> System:
    file = place / "model.toml"
    file.write_text(text)
    return load(file)


def four_bar_at(drive: float, speed: float, crank: float, coupler: float = 0.9, rocker: float = 0.7) -> Any:
    """(q, v) of the four-bar whose coupler and rocker meet above the line between their other ends."""
    x, z = crank * math.cos(drive), crank * math.sin(drive)
    apart, line = math.hypot(1.0 - x, z), math.atan2(-z, 1.0 - x)
    second = line + math.acos((apart**2 + coupler**2 - rocker**2) / (2.0 * apart * coupler))
    third = math.atan2(z + coupler * math.sin(second), x + coupler * math.cos(second) - 1.0)
    turn = crank * speed / math.sin(second - third)
    rates = turn * math.sin(third - drive) / coupler, turn * math.sin(second - drive) / rocker
    return (drive, second - drive, third), (speed, rates[0] - speed, rates[1])


@pytest.fixture
def four_bar(tmp_path: Path) -> System:
    return file_of(FOUR_BAR, tmp_path)


@pytest.mark.parametrize("crank", [0.2, 0.3, 0.5, 1.5])
def test_the_other_values_follow_a_length(four_bar: System, crank: float) -> None:
    """Also where the length changes so much that both branches are equally far, the branch stays."""
    q, v = four_bar_at(0.6, 2.0, crank)
    run = simulate(four_bar, 0.01, p={"crank": crank})
    assert run.q[0] == pytest.approx(q, abs=1e-11) and run.v[0] == pytest.approx(v, abs=1e-10)
    assert run.q[0][0] == 0.6 and run.v[0][0] == 2.0


def test_batches_steppers_and_studies_start_as_a_run_does(four_bar: System, tmp_path: Path) -> None:
    cranks = np.linspace(0.2, 0.35, 4)
    wanted = [four_bar_at(0.6, 2.0, crank) for crank in cranks.tolist()]
    batch = simulate_batch(four_bar, 0.01, p={"crank": cranks})
    assert batch.q[:, 0] == pytest.approx(np.array([q for q, _ in wanted]), abs=1e-11)
    assert batch.v[:, 0] == pytest.approx(np.array([v for _, v in wanted]), abs=1e-10)
    kept = plant(four_bar, parameters=["crank"])
    stepper = Stepper(kept, p=[0.2])
    assert stepper.state.q == pytest.approx(wanted[0][0], abs=1e-11)
    assert stepper.state.v == pytest.approx(wanted[0][1], abs=1e-10)
    assert linearize(kept, p=[0.2]).q == pytest.approx(wanted[0][0], abs=1e-11)
    measures = {"pivot": lambda run: run["q.pivot"][0], "speed": lambda run: run["v.pivot"][0]}
    for k, (model, run) in enumerate(((four_bar, None), (four_bar, {}), (str(tmp_path / "model.toml"), None))):
        how: dict[str, Any] = {"until": 0.01, "store": tmp_path / f"study{k}", "workers": 0, "run": run}
        study = sweep(model, Space({"crank": Range(0.2, 0.35, points=4)}), measures, **how)
        assert study["pivot"] == pytest.approx([q[2] for q, _ in wanted], abs=1e-11)
        assert study["speed"] == pytest.approx([v[2] for _, v in wanted], abs=1e-10)


def test_the_start_has_the_derivative_of_the_closed_form(four_bar: System) -> None:
    found = sensitivities(four_bar, 1e-6, parameters="crank", p={"crank": 0.25}, output_step=1e-6)
    high, low = (four_bar_at(0.6, 2.0, 0.25 + h)[0] for h in (1e-6, -1e-6))
    assert found.q[0, :, 0] == pytest.approx((np.array(high) - low) / 2e-6, abs=1e-8)


def test_a_program_keeps_what_is_stated_when_a_parameter_changes(four_bar: System) -> None:
    for model, q in ((four_bar, None), (replace(four_bar, settings=Settings()), {"drive": 0.6})):
        job = make_job(model, 0.01, q=q, v={"drive": 2.0}, parameters=["crank"])
        first, kept = job.first, np.zeros((2, 3))
        memory, status = build(job.start, few_calls=True)(first.memory, 0.5, kept, first.u, [0.25])
        assert status == 0.0
        found, nv = four_bar_at(0.6, 2.0, 0.25), 3
        assert first.plan.array(memory, "base") == pytest.approx(found[0], abs=1e-10)
        assert first.plan.array(memory, "s")[nv : 2 * nv] == pytest.approx(found[1], abs=1e-9)


def test_what_cannot_follow_is_said_with_the_gap(four_bar: System) -> None:
    """The ends of a crank of 3 m and of a rocker of 0.7 m are 1.61 m apart or more, and the coupler has 0.9 m."""
    with pytest.raises(ShapeError) as told:
        simulate(four_bar, 0.01, p={"crank": 3.0})
    assert str(told.value).startswith(
        "q: no configuration of 'four bar' near the given one closes its loops with the named coordinates kept, for "
        "the parameters of this run; remaining error: 'closure' by 0."
    )
    whole = replace(four_bar, settings=replace(four_bar.settings, stated_q=None))
    with pytest.raises(ShapeError, match=r"the loops of 'four bar' are open in the initial state: 'closure' by 0.05 m"):
        simulate(whole, 0.01, p={"crank": 0.25})  # a configuration that is stated in full stays as it is
    with pytest.raises(ShapeError, match=r"the loops of 'four bar' are open in the initial state: 'closure' by 0.05 m"):
        simulate(four_bar, 0.01, p={"crank": 0.25}, q=four_bar.settings.q)


def test_starts_keep_what_they_name(tmp_path: Path) -> None:
    """Values that a start leaves out are those of the settings; of too many values all may move, with a warning."""
    starts = "[starts.up]\nq = { drive = 1.1 }\nv = { drive = -3.0 }\n[starts.open]\nq = [0.6, 0.1, 1.6]\n"
    starts += "[starts.out]\nq = { pivot = 1.75 }\n"
    model = file_of(FOUR_BAR + starts, tmp_path)
    for crank in (0.3, 0.25):
        q, v = four_bar_at(1.1, -3.0, crank)
        run = simulate(model, 0.01, start="up", p={"crank": crank})
        batch = simulate_batch(model, 0.01, start="up", p={"crank": [crank]})
        for found in (run, batch[0]):
            assert found.q[0] == pytest.approx(q, abs=1e-11) and found.v[0] == pytest.approx(v, abs=1e-10)
    with pytest.warns(ModelWarning, match="start 'open' of 'four bar' violates constraints, 'closure' by 0.06"):
        simulate(model, 0.01, start="open")
    for found in (
        simulate(model, 0.01, start="out", p={"crank": 0.25}),
        simulate_batch(model, 0.01, start="out", p={"crank": [0.25]})[0],
    ):
        drive, *_, pivot = found.q[0]
        assert pivot == 1.75 and found.q[0] == pytest.approx(four_bar_at(drive, 0.0, 0.25)[0], abs=1e-11)
    there = model.starting_at("up")
    assert there.settings.q[0] == 1.1 and there.settings.stated_q == there.settings.stated_v == ("drive",)
    assert simulate(there, 0.01).q[0] == pytest.approx(four_bar_at(1.1, 0.0, 0.3)[0], abs=1e-11)


def test_files_come_back_with_what_is_stated(four_bar: System, tmp_path: Path) -> None:
    (file,) = save(four_bar, tmp_path / "again.toml")
    text = file.read_text()
    assert "[settings.q]\ndrive = 0.6\n" in text and "knee = 0.0" not in text
    assert load(file).settings == four_bar.settings
    whole = replace(four_bar, settings=Settings(q=(*four_bar.settings.q[:2], 0.0)))
    (file,) = save(whole, tmp_path / "whole.toml")
    with pytest.warns(ModelWarning, match="the initial configuration leaves loops open"):
        assert load(file).settings == whole.settings  # all three are stated, also the one that is 0


def test_a_robot_of_the_library_follows_its_parameters() -> None:
    """A planned run proposes a configuration that is closed for the nominal lengths."""
    run = System(library.four_bar()).run({"time": 0.01})
    prepared = prepared_run(library.four_bar(), {"time": 0.01})
    assert prepared.system.settings.stated_q == () and run.q[0] == pytest.approx(prepared.system.settings.q, abs=1e-7)
    found = simulate(prepared.system, 0.01, p={"l1": 0.25}).q[0]
    assert found == pytest.approx(four_bar_at(found[0], 0.0, 0.25)[0], abs=1e-11)


# ── a slider and free joints ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("l1", [0.8, 1.0, 1.3])
def test_the_speed_of_a_slider_follows_a_length(l1: float) -> None:
    """x = l1 cos f + sqrt(l2^2 - l1^2 sin^2 f), from the place l1 + l2 where the slider's coordinate is 0."""
    settings = Settings(q=(0.8, -1.166851321778844, -0.43637062518183134), v=(1.5, 0.0, 0.0),
                        stated_q=("crank_joint",), stated_v=("crank_joint",))  # fmt: skip
    run = simulate(System(library.slider_crank(), settings=settings), 0.01, p={"l1": l1})
    across, along = l1 * math.sin(0.8), l1 * math.cos(0.8)
    reach = math.sqrt(4.0 - across**2)
    assert run["q.slider_joint"][0] == pytest.approx(along + reach - l1 - 2.0, abs=1e-11)
    assert run["v.slider_joint"][0] == pytest.approx(-1.5 * (across + across * along / reach), abs=1e-11)


def block(kind: str) -> Robot:
    """A body on a joint with several coordinates, with a corner."""
    builder = RobotBuilder("block").add(Body("block", 1.0, inertia=(0.1, 0.2, 0.3)))
    builder.joint("root", kind, "world", "block")
    return builder.frame("corner", "block", translation=(0.1, 0.2, 0.3)).build()


def test_one_coordinate_of_a_free_joint_is_kept_alone() -> None:
    """The corner is brought onto the plane z = 1: by height or by turning, at x = 2 and also at the height 0.8."""
    system = System(block("free"), (elements.PointOnPlane("rail", "corner", origin=(0.0, 0.0, 1.0)),))
    for q in ({"root.x": 2.0}, {"root.x": 2.0, "root.y": -1.0, "root.z": 0.8}, {"root.z": 0.7, "root.qw": 1.0}):
        run = simulate(system, 0.01, q=q)
        now = dict(zip(system.robot.q_names, run.q[0].tolist(), strict=True))
        assert all(now[name] == value for name, value in q.items())
        w, x, y, _ = (now[f"root.q{axis}"] for axis in "wxyz")
        z = now["root.qz"]
        height = 2.0 * (x * z - w * y) * 0.1 + 2.0 * (y * z + w * x) * 0.2 + (w * w - x * x - y * y + z * z) * 0.3
        assert now["root.z"] + height == pytest.approx(1.0, abs=1e-11)
    with pytest.raises(ShapeError, match=r"with the named coordinates kept; remaining error: 'rail' by 0.2"):
        simulate(system, 0.01, q={"root.z": 0.5, "root.qw": 1.0})  # a quaternion is kept as a whole


def test_a_turned_planar_joint_keeps_its_place_and_not_its_body_velocity() -> None:
    """Its velocities are in the axes of the body: along x of the world, both of them change the coordinate x."""
    row = elements.Constraint("row", "q.root.x + q.root.y + 0.5 * q.root.theta - 1")
    run = simulate(System(block("planar"), (row,)), 0.01, q={"root.x": 0.5, "root.theta": 1.0})
    assert run.q[0] == pytest.approx([0.5, 0.0, 1.0], abs=1e-12)
    run = simulate(System(block("planar"), (row,)), 0.01, q={"root.theta": 1.0, "root.y": 0.3})
    assert run.q[0] == pytest.approx([0.2, 0.3, 1.0], abs=1e-12)


def test_a_kept_coordinate_of_a_joint_that_turns_stays_exactly_when_loops_are_closed() -> None:
    """The corner is pinned to the ground; with the body's x stated, its y and its angle follow, on floats too."""
    builder = RobotBuilder("pinned").add(Body("block", 1.0, inertia=(0.1, 0.2, 0.3)))
    builder.joint("root", "planar", "world", "block")
    corner = Pose(IDENTITY.R, (0.1, 0.2, 0.0))
    builder.joint("pin", "revolute", "world", "block", translation=(0.5, 0.1, 0.0), child_placement=corner)
    robot = builder.build()
    for q in (assembled(robot, (0.4, 0.0, 0.3), ["root.x"]), simulate(robot, 0.01, q={"root.x": 0.4}).q[0]):
        assert q is not None and q[0] == 0.4
        c, s = math.cos(q[2]), math.sin(q[2])
        assert np.add(q[:2], [0.1 * c - 0.2 * s, 0.1 * s + 0.2 * c]) == pytest.approx([0.5, 0.1], abs=1e-11)


def test_velocities_that_a_file_names_are_completed_on_constraints_of_elements(tmp_path: Path) -> None:
    """Two slides with x + 2 y = 1: the speed of x is stated, and that of y is half of it, downwards."""
    file = save(System(sliding_point(), (elements.Constraint("row", "q.x + 2 * q.y - 1"),)), tmp_path / "model.toml")
    system = file_of(file[0].read_text() + "[settings]\nq = { x = 0.4 }\nv = { x = 1.0 }\n", tmp_path)
    for run in (simulate(system, 0.01), system.run({"time": 0.01}), simulate_batch(system, 0.01)[0]):
        assert run.q[0] == pytest.approx([0.4, 0.3], abs=1e-12) and run.v[0] == pytest.approx([1.0, -0.5], abs=1e-12)
    assert simulate(system, 0.01, v={"y": 1.0}).v[0] == pytest.approx([-2.0, 1.0], abs=1e-12)
    open_tree = file_of(file[0].read_text().partition("[elements")[0] + "[settings]\nv = { x = 1.0 }\n", tmp_path)
    assert open_tree.settings.stated_v is None  # nothing follows without constraints


def sliding_point() -> Robot:
    builder = RobotBuilder("point").add(Body.massless("cart")).add(Body.point("mass", 1.0))
    builder.joint("x", "prismatic", "world", "cart", axis=(1.0, 0.0, 0.0))
    return builder.joint("y", "prismatic", "cart", "mass", axis=(0.0, 1.0, 0.0)).build()


@pytest.mark.parametrize("group", ["q", "v"])
def test_values_that_are_edited_and_not_stated_are_told(group: str) -> None:
    """A whole q in place of that of a file would be moved in silence, since only the names of the file count."""
    system = load_text(FOUR_BAR, "toml")
    values = [x + 0.3 * (k > 0) for k, x in enumerate(system.initial_state()[0])]
    edited = replace(system, settings=replace(system.settings, **{group: tuple(values)}))
    with pytest.warns(ModelWarning) as told:
        simulate(edited, 0.01)
    sentence = str(told[0].message)
    assert sentence.startswith(f"{group} of 'four bar' violates constraints, 'closure' by ")
    assert sentence.endswith(f": only 'drive' is stated, and the others follow. To state all, set stated_{group}=None.")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        simulate(system, 0.01)
