"""Elements in scenes: springs and motors, forces to scale, grounds."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

import kinemorph
from kinemorph import Body, Robot, RobotBuilder, System, elements, library
from kinemorph.algebra.groups import Pose
from kinemorph.algebra.scalar import sin
from kinemorph.display.scenes.building import scene_of
from kinemorph.display.scenes.driven_joints import driven_joints, efforts_of
from kinemorph.display.scenes.figures import fixed, positions_of
from kinemorph.display.scenes.grounds import GRID, Standing, grounds_of
from kinemorph.display.scenes.loads import LONGEST, round_number
from kinemorph.display.scenes.sampled_columns import between_samples, held, nearest_sample
from kinemorph.display.scenes.scene import WORLD_OWNER, Figure, Mark, Part, Scene
from kinemorph.mechanics.elements.contact.grounds import interpolated
from kinemorph.simulation.results.trajectory import Trajectory

I = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
SOFT = elements.HuntCrossley(2e4, 0.5)
RUBBER = elements.Regularized(0.6, 1e-3)


def ball(radius: float = 0.1) -> Robot:
    return RobotBuilder("ball").add(Body.sphere("ball", 1.0, radius)).root("ball", "free").build()


def arm() -> Robot:
    builder = RobotBuilder("arm").add(Body.rod("upper", 1.0, 0.5, center=(0.0, 0.0, -0.25)))
    builder.add(Body.rod("lower", 0.8, 0.4, center=(0.0, 0.0, -0.2)), Body.box("cart", 1.0, (0.1, 0.1, 0.1)))
    builder.joint("shoulder", "revolute", "world", "upper", axis=(0.0, 1.0, 0.0), placement=Pose(I, (0.0, 0.0, 1.0)))
    builder.joint("elbow", "revolute", "upper", "lower", axis=(0.0, 1.0, 0.0), placement=Pose(I, (0.0, 0.0, -0.5)))
    builder.joint("slide", "prismatic", "world", "cart", axis=(1.0, 0.0, 0.0), placement=Pose(I, (0.0, 0.5, 0.2)))
    return builder.frame("hand", "lower", translation=(0.0, 0.0, -0.4)).build()


def mark_of(scene: Scene, name: str, look: str | None = None) -> Mark:
    (mark,) = [mark for mark in scene.figures[0].marks if mark.name == name and look in (None, mark.look)]
    return mark


def ends(figure: Figure, mark: Mark) -> tuple[np.ndarray, np.ndarray]:
    start = positions_of(figure, mark.start) + (0.0 if mark.shifts is None else mark.shifts)
    assert mark.end is not None or mark.vectors is not None
    return start, positions_of(figure, mark.end) if mark.end is not None else start + mark.vectors


def unit(scene: Scene, kind: str) -> float:
    """Length of an arrow for one unit [m], as the note says."""
    (note,) = [note for note in scene.notes if note.startswith(f"{kind} arrows: ")]
    length, amount = note.split(": ")[1].split(" is ")
    return float(length.split()[0]) / float(amount.split()[0])


def of_layer(scene: Scene, layer: str) -> list[Part]:
    return [part for part in scene.figures[0].parts if part.layer == layer]


# ── springs, ropes, legs ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def waving() -> Trajectory:
    """An arm that swings freely."""
    return kinemorph.simulate(System(arm()), 0.4, q=np.array([0.3, 0.2, 0.0]), output_step=0.01)


def acted_on(run: Trajectory, *acting) -> Trajectory:
    """The same motion, as if elements had been there."""
    plant = replace(run.segments[0].plant, elements=acting)
    return replace(run, segments=tuple(replace(segment, plant=plant) for segment in run.segments))


@pytest.mark.parametrize(
    ("kind", "numbers", "look"),
    [
        (elements.Spring, (10.0,), "spring"),
        (elements.Damper, (1.0,), "damper"),
        (elements.Rope, (10.0, 0.3), "rope"),
        (elements.Bumper, (10.0, 0.3), "spring"),
    ],
)
def test_springs_join_their_points_at_all_times(waving: Trajectory, kind, numbers, look: str) -> None:
    name = "s p/r:ing \u00e9"
    element = kind(name, "world", "hand", *numbers, point_a=(1.0, 0.0, 1.0), point_b=(0.0, 0.1, 0.0))
    scene = scene_of(acted_on(waving, element))
    mark = mark_of(scene, name)
    start, end = ends(scene.figures[0], mark)
    angle = waving.at(scene.times).q
    upper, both = angle[:, 0], angle[:, 0] + angle[:, 1]
    x = -0.5 * np.sin(upper) - 0.4 * np.sin(both)
    z = 1.0 - 0.5 * np.cos(upper) - 0.4 * np.cos(both)
    assert mark.look == look and mark.layer == "elements"
    assert np.allclose(start, (1.0, 0.0, 1.0))
    assert np.allclose(end, np.stack([x, np.full_like(x, 0.1), z], axis=-1), atol=1e-9)
    bolt = mark_of(scene, f"{name} bolt")
    assert bolt.look == "ball" and bolt.start.owner == WORLD_OWNER and bolt.start.point == (1.0, 0.0, 1.0)
    assert scene.box[1, 0] >= 1.0  # what it hangs on is seen


def test_a_spring_with_damping_has_a_damper_inside() -> None:
    spring = elements.Spring("s", "upper", "cart", 10.0, damping=0.1)
    looks = [mark.look for mark in scene_of(System(arm(), (spring,))).figures[0].marks]
    assert looks == ["spring", "damper"]


def test_a_spring_leg_stands_where_it_landed_and_points_ahead_in_flight() -> None:
    leg = elements.SpringLeg("leg", "ball", 4e3, 0.5, direction=(0.2, 0.0, -1.0))
    q = np.array([0.0, 0.0, 0.6, 1.0, 0.0, 0.0, 0.0])
    run = kinemorph.simulate(System(ball(), (leg,)), 0.8, q=q, v=np.array([1.0, 0, 0, 0, 0, 0]), output_step=0.005)
    scene = scene_of(run, fps=200.0)
    hip, foot = ends(scene.figures[0], mark_of(scene, "leg"))
    stands = held(run, "m.leg.stance", scene.times) > 0.5
    assert stands.any() and not stands.all()
    flight = 0.5 * np.array([0.2, 0.0, -1.0]) / np.hypot(0.2, 1.0)
    assert np.allclose((foot - hip)[~stands], flight)
    assert np.allclose(foot[stands][:, 2], 0.0, atol=1e-9)
    lengths = np.linalg.norm((foot - hip)[stands], axis=1)
    assert lengths.max() < 0.5 + 1e-3 and lengths.min() < 0.499
    still = scene_of(System(ball(), (leg,)), q=q)
    assert np.allclose(mark_of(still, "leg").vectors, flight) and still.floor == 0.0


def test_a_pull_is_a_cord_from_each_point_that_it_pulls_to_its_target_while_it_pulls() -> None:
    robot = arm()

    def hand(t: float) -> dict[str, float]:
        grip = {"hand.body": float(robot.body_names.index("upper" if t < 0.2 else "lower")), "hand.point_z": -0.1}
        return grip | {"hand.x": 0.4, "hand.z": 0.5 + t, "hand.share": float(t < 0.35)}

    run = kinemorph.simulate(System(robot, (elements.Pull("hand", 50.0),)), 0.5, inputs=hand, output_step=0.05)
    scene = scene_of(run)
    cords = [mark for mark in scene.figures[0].marks if mark.name == "hand"]
    assert [robot.body_names[mark.start.owner] for mark in cords] == ["upper", "lower"]
    for mark, times in zip(cords, ([0.1], [0.25, 0.3]), strict=True):
        start, end = ends(scene.figures[0], mark)
        for t in times:
            k, row = (int(np.argmin(np.abs(np.array(each) - t))) for each in (scene.times, run.t))
            assert start[k] == pytest.approx([run[f"hand.point_{axis}"][row] for axis in "xyz"], abs=1e-9)
            assert end[k] == pytest.approx([0.4, 0.0, 0.5 + t], abs=1e-9)
        assert np.all(mark.vectors[np.array(scene.times) > 0.36] == 0.0)


def test_springs_in_joints_bushings_motors_and_sensors_are_there() -> None:
    robot = arm()
    system = System(
        robot,
        (
            elements.TorsionSpring("spiral", "elbow", 2.0),
            elements.TorsionSpring("coil", "slide", 50.0),
            elements.DCMotor("motor", "shoulder", 1.0, 0.1),
            elements.PD("hold", "elbow", 10.0),
            elements.IMU("imu", body="hand"),
            elements.ForceTorqueSensor("cell", joint="elbow"),
            elements.Bushing("mount", "upper", "cart", (1.0, 1.0, 1.0)),
        ),
    )
    scene = scene_of(system, q=[0.1, 0.2, -0.3])
    fitted = {part.name: part for part in of_layer(scene, "elements")}
    assert set(fitted) == {"spiral", "motor", "shoulder flange", "elbow flange", "imu", "cell"}
    assert fitted["motor"].owner == WORLD_OWNER and fitted["spiral"].owner == robot.body_names.index("upper")
    middle = fitted["motor"].surface.points.mean(axis=0)
    assert middle[0] == pytest.approx(0.0, abs=1e-9) and middle[2] == pytest.approx(1.0)  # beside the joint, along y
    assert fitted["imu"].surface.points.mean(axis=0) == pytest.approx([0.0, 0.0, -0.4])
    start, end = ends(scene.figures[0], mark_of(scene, "coil"))
    assert np.allclose(
        end[:, 0] - start[:, 0], np.linalg.norm(end - start, axis=1)
    )  # along the slide, not turned round
    looks = [mark.look for mark in scene.figures[0].marks if mark.name == "mount"]
    assert looks == ["rod", "ball"]
    assert "elements" in scene.layers


def test_a_coil_on_a_slide_lies_along_it_behind_all_it_does() -> None:
    upright = ((0.0, 0.0, -1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0))  # x of the joint is up
    builder = RobotBuilder("lift").add(Body.box("cart", 1.0, (0.1, 0.1, 0.1)))
    builder.joint("slide", "prismatic", "world", "cart", axis=(1.0, 0.0, 0.0), placement=Pose(upright, (1.0, 2.0, 3.0)))
    system = System(builder.build(), (elements.TorsionSpring("coil", "slide", 50.0),))
    scene = scene_of(kinemorph.simulate(system, 0.4, q=[0.1], output_step=0.05))
    start, end = ends(scene.figures[0], mark_of(scene, "coil"))
    height = scene.figures[0].q[:, 0]
    assert height.min() < -0.1
    assert np.allclose(end, np.stack([1.0 + 0.0 * height, 2.0 + 0.0 * height, 3.0 + height], axis=-1))
    assert np.allclose(start[:, :2], (1.0, 2.0)) and (start[:, 2] < end[:, 2].min()).all()


def test_elements_of_ones_own_are_not_drawn_and_do_no_harm() -> None:
    @dataclass(frozen=True)
    class Wind:
        name: str

    scene = scene_of(System(arm(), (Wind("wind"),)))
    assert not scene.figures[0].marks and not of_layer(scene, "elements")


# ── forces ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def dropped() -> Trajectory:
    """A ball that falls on a slope."""
    slope = elements.Plane((0.0, 0.0, 0.0), (-0.2, 0.0, 1.0))
    contact = elements.Contact("skin of ball", "ball", SOFT, RUBBER, slope, radius=0.1)
    q = np.array([0.0, 0.0, 0.3, 1.0, 0.0, 0.0, 0.0])
    return kinemorph.simulate(System(ball(), (contact,)), 0.8, q=q, output_step=0.004)


def test_forces_of_contacts_start_where_they_touch_and_are_to_scale(dropped: Trajectory) -> None:
    scene = scene_of(dropped, fps=250.0)  # at the samples
    figure, mark = scene.figures[0], mark_of(scene, "skin of ball")
    start, end = ends(figure, mark)
    n = np.array([-0.2, 0.0, 1.0]) / np.hypot(0.2, 1.0)
    assert np.allclose(start, figure.positions[:, 0] - 0.1 * n, atol=1e-12)
    force = np.stack([dropped[f"skin of ball.force_{axis}"] for axis in "xyz"], axis=-1)
    short = np.linalg.norm(end - start, axis=1) < 0.999 * LONGEST * figure.size
    assert short.mean() > 0.9
    assert np.allclose((end - start)[short], unit(scene, "force") * force[short], atol=1e-6 * figure.size)
    free = dropped["skin of ball.touching"] < 0.5
    assert free.any() and np.all((end - start)[free] == 0.0)
    assert mark.layer == "forces" and "forces" in scene.layers


def test_the_scale_is_a_round_one_and_typical_forces_are_a_third_of_the_robot(dropped: Trajectory) -> None:
    scene = scene_of(dropped)
    sizes = np.linalg.norm([dropped[f"skin of ball.force_{axis}"] for axis in "xyz"], axis=0)
    typical = unit(scene, "force") * np.percentile(sizes[sizes > 0.0], 95.0)
    assert 0.15 < typical / scene.figures[0].size < 0.8
    for x in (0.0123, 0.9, 1.0, 3.0, 77.0, 1.4e5):
        found = round_number(x)
        assert 0.6 < found / x < 1.6 and f"{found:e}"[:3] in ("1.0", "2.0", "2.5", "5.0")
    # two runs share one scale
    both = scene_of([dropped, dropped])
    first, second = (figure.marks[-1] for figure in both.figures)
    assert np.allclose(first.vectors, second.vectors) and len(both.notes) == 1


def test_a_capsule_is_pushed_where_it_touches_and_a_pair_on_both_sides() -> None:
    builder = RobotBuilder("two").add(Body.sphere("left", 1.0, 0.1), Body.sphere("right", 1.0, 0.1))
    robot = builder.root("left", "free").root("right", "free").build()
    stick = elements.Contact("stick", "left", SOFT, radius=0.05, point=(-0.3, 0.0, 0.0), end=(0.3, 0.0, 0.0), samples=3)
    pair = elements.PairContact("pair", "left", "right", SOFT, 0.1, 0.2)
    tilt = np.radians(10.0)
    q = np.array([0.0, 0.0, 0.09, np.cos(tilt / 2), 0.0, np.sin(tilt / 2), 0.0, 0.0, 0.25, 0.1, 1.0, 0.0, 0.0, 0.0])
    run = kinemorph.simulate(System(robot, (stick, pair)), 0.004, q=q, output_step=0.001)
    scene = scene_of(run, fps=1000.0)
    figure = scene.figures[0]
    start, end = ends(figure, mark_of(scene, "stick"))
    low = 0.3 * np.array([np.cos(tilt), 0.0, -np.sin(tilt)])  # the end that turns down
    assert np.allclose(start[0], q[:3] + low - (0.0, 0.0, 0.05), atol=1e-9) and end[0, 2] > start[0, 2]
    on_left, on_right = (ends(figure, mark_of(scene, f"pair on {side}")) for side in ("left", "right"))
    assert np.allclose(on_left[0], on_right[0])  # in one place
    assert np.allclose(on_left[1] - on_left[0], on_right[0] - on_right[1])  # and opposite
    apart = figure.positions[0, 1] - figure.positions[0, 0]
    assert (on_right[1] - on_right[0])[0] @ apart > 0.0
    between = 0.5 * (figure.positions[0, 0] + figure.positions[0, 1]) - 0.05 * apart / np.linalg.norm(apart)
    assert np.allclose(on_left[0][0], between, atol=1e-9)


def test_a_tire_is_pushed_at_its_lowest_point() -> None:
    wheel = RobotBuilder("wheel").add(Body.sphere("rim", 20.0, 0.2)).root("rim", "free").build()
    tire = elements.Tire("tire", "rim", 0.3, 1e5, 200.0, 2e3, 2e3)
    q = np.array([0.0, 0.0, 0.299, 1.0, 0.0, 0.0, 0.0])
    v = np.array([1.0, 0.0, 0.0, 0.0, 1.0, 0.0])
    run = kinemorph.simulate(System(wheel, (tire,)), 0.02, q=q, v=v, output_step=0.002)
    scene = scene_of(run, fps=500.0)
    start, end = ends(scene.figures[0], mark_of(scene, "tire"))
    assert np.allclose(start, scene.figures[0].positions[:, 0] - (0.0, 0.0, 0.3), atol=1e-9)
    pushed = (end - start) / unit(scene, "force")
    assert np.allclose(pushed[:, 2], run["tire.load"], rtol=1e-5) and (run["tire.load"] > 10.0).any()
    assert np.allclose(pushed[:, 0], run["tire.longitudinal"], rtol=1e-5, atol=1e-5)
    assert scene.floor == 0.0


SKIDDING = elements.Tire("tire", "body", 0.3, 1e5, 200.0, 2e3, 2e3, crown=0.05, axis=(-1.0, 0.2, 0.0))
RESTING = elements.Contact("foot", "body", SOFT, friction=RUBBER, radius=0.3, ground=elements.Plane(normal=(0.3, 0, 1)))


@pytest.mark.parametrize("element", [SKIDDING, RESTING], ids=["tire", "slope"])
def test_arrows_and_weight_make_the_body_move_as_it_does(element) -> None:
    body = RobotBuilder("body").add(Body.sphere("body", 20.0, 0.2)).root("body", "free").build()
    q = np.array([0.0, 0.0, 0.299, 1.0, 0.0, 0.0, 0.0])
    v = np.array([1.0, 2.0, 0.0, 0.0, 1.0, 0.5])  # it slides forward and aside
    run = kinemorph.simulate(System(body, (element,)), 0.03, q=q, v=v, output_step=1e-3, rtol=1e-9)  # differences of it
    scene = scene_of(run, times=run.t)
    start, end = ends(scene.figures[0], mark_of(scene, element.name))
    pushed = (end - start) / unit(scene, "force")
    place = scene.figures[0].positions[:, 0]
    rate = (place[2:] - 2.0 * place[1:-1] + place[:-2]) / 1e-3**2
    assert np.allclose(pushed[1:-1], 20.0 * (rate + np.array([0.0, 0.0, 9.81])), atol=0.02 * np.abs(pushed).max())
    assert np.abs(pushed).max(axis=0).min() > 2.0  # along all axes


@pytest.mark.parametrize(
    "force",
    [
        (0.0, 0.0, 5.0),
        elements.Table((0.0, 1.0), ((0.0, 0.0, 0.0), (0.0, 0.0, 10.0))),
        lambda t: (0.0, 0.0, 3.0 * (t > 0.1)),
        lambda t: (0.0, 0.0, float(3.0 * t)),  # takes no arrays
    ],
    ids=["numbers", "table", "function", "function of a float"],
)
def test_wrenches_from_outside_are_shown_as_they_are_given(waving: Trajectory, force) -> None:
    push = elements.AppliedWrench("push", "hand", force=force, point=(0.1, 0.0, 0.0), axes="body")
    scene = scene_of(acted_on(waving, push), fps=20.0)
    figure = scene.figures[0]
    start, end = ends(figure, mark_of(scene, "push force"))
    assert np.allclose(start, positions_of(figure, fixed(figure.robot, "hand", (0.1, 0.0, 0.0))))
    courses = {tuple: lambda t: 5.0, elements.Table: lambda t: 10.0 * t}
    given = courses.get(type(force), lambda t: force(float(t))[2])
    size = np.linalg.norm(end - start, axis=1) / unit(scene, "force")
    assert np.allclose(size, [given(t) for t in scene.times], atol=1e-9)
    up = positions_of(figure, fixed(figure.robot, "hand", (0.1, 0.0, 1.0))) - start  # the z axis of the hand
    assert np.all(np.einsum("ij,ij->i", end - start, up) >= 0.0)


def test_wrenches_in_the_axes_of_a_frame_turn_with_it() -> None:
    builder = RobotBuilder("hinge").add(Body.box("bar", 1.0, (0.1, 0.1, 1.0)))
    builder.joint("q", "revolute", "world", "bar", axis=(0.0, 0.0, 1.0))
    quarter = ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))  # about x: its z is -y of the bar
    robot = builder.frame("tool", "bar", placement=Pose(quarter, (0.0, 0.0, 0.5))).build()
    push = elements.AppliedWrench("push", "tool", force=(1.0, 2.0, 3.0), moment=(0.0, 0.0, 4.0), axes="body")
    scene = scene_of(System(robot, (push,)), q=[np.pi / 2.0])
    for kind, expected in (("force", (3.0, 1.0, 2.0)), ("torque", (4.0, 0.0, 0.0))):
        name = "push force" if kind == "force" else "push moment"
        vector = mark_of(scene, name).vectors[0] / unit(scene, kind)
        assert vector == pytest.approx(expected, abs=1e-9)


def test_drives_of_joints_add_up_and_lie_along_their_axes() -> None:
    robot = arm()
    system = System(
        robot,
        (
            elements.PD("hold", ("shoulder", "elbow"), 5.0, 0.5, reference=(0.5, -0.2)),
            elements.AppliedEffort("extra", "elbow", 0.75),
            elements.Actuator("drive", "slide", gear=2.0, control="position", gain=10.0, damping=1.0),
            elements.PID("pid", reads="q.slide", drives="drive", reference=0.1, kp=1.0),
        ),
    )
    assert driven_joints(robot, system.elements) == ("shoulder", "elbow", "slide")
    run = kinemorph.simulate(system, 0.5, output_step=0.01)
    found = efforts_of(robot, system.elements, run, run.t)
    assert np.allclose(found["shoulder"], run["hold.shoulder"])
    assert np.allclose(found["elbow"], run["hold.elbow"] + 0.75)
    s, ds = 2.0 * run["q.slide"], 2.0 * run["v.slide"]
    assert np.allclose(found["slide"], 2.0 * (10.0 * (run["pid"] - s) - 1.0 * ds))
    scene = scene_of(run, fps=100.0)
    start, end = ends(scene.figures[0], mark_of(scene, "elbow drive"))
    assert np.allclose(end - start, unit(scene, "torque") * np.outer(found["elbow"], [0.0, 1.0, 0.0]), atol=1e-9)
    pushed = mark_of(scene, "slide drive")
    assert np.allclose(pushed.vectors, unit(scene, "force") * np.outer(found["slide"], [1.0, 0.0, 0.0]), atol=1e-9)
    assert pushed.color != mark_of(scene, "elbow drive").color


def test_an_actuator_called_like_its_joint_is_what_a_controller_drives(waving: Trajectory) -> None:
    drive = elements.Actuator("elbow", "elbow", gear=3.0)
    pid = elements.PID("q.elbow", reads="q.elbow", drives="elbow", kp=1.0)  # its signal is called like a column
    robot = waving.segments[0].plant.robot
    run = kinemorph.simulate(System(robot, (drive, pid)), 0.1, q=waving.q[0], output_step=0.05)
    found = efforts_of(robot, (drive, pid), run, run.t)
    assert np.allclose(found["elbow"], 3.0 * run["elbow.force"])
    assert np.allclose(run["elbow.force"], run["q.elbow"])  # the PID's output, a column of this name


def test_inputs_of_a_plain_robot_are_its_drives_and_zeros_are_not_shown() -> None:
    robot = library.double_pendulum()
    quiet = kinemorph.simulate(robot, 0.1, output_step=0.01)
    assert scene_of(quiet).figures[0].marks == () and scene_of(quiet).notes == ()


def test_numbers_of_a_run_between_its_samples(dropped: Trajectory) -> None:
    t = dropped.t
    middle = 0.5 * (t[:-1] + t[1:])
    column = "skin of ball.depth"
    assert np.allclose(between_samples(dropped, column, t), dropped[column])
    assert np.allclose(between_samples(dropped, column, middle), 0.5 * (dropped[column][:-1] + dropped[column][1:]))
    assert np.isnan(between_samples(dropped, column, np.array([t[-1] + 1.0]))).all()
    near = np.array([t[0], t[3] + 0.2 * (t[4] - t[3]), t[3] + 0.8 * (t[4] - t[3]), t[-1]])
    assert np.array_equal(nearest_sample(dropped, "t", near), t[[0, 3, 4, -1]])
    assert np.array_equal(held(dropped, "t", near), t[[0, 3, 3, -1]])


# ── grounds ───────────────────────────────────────────────────────────────────────────────────────────────────────────

BOX = np.array([[-1.0, -1.0, 0.5], [1.0, 2.0, 1.5]])
NOWHERE = np.zeros(3)


def touching(*grounds) -> list[elements.Contact]:
    return [elements.Contact(f"c{k}", "ball", SOFT, ground=ground) for k, ground in enumerate(grounds)]


def test_the_floor_is_below_all_where_nothing_touches_and_else_the_level_plane() -> None:
    assert grounds_of([Standing((), BOX, NOWHERE)]) == ((), 0.5)
    assert grounds_of([Standing(touching(elements.Plane((0.0, 0.0, 0.2))), BOX, NOWHERE)]) == ((), 0.2)


def test_level_planes_at_other_heights_are_rectangles() -> None:
    step = elements.Plane((0.0, 0.0, 0.4))
    parts, floor = grounds_of([Standing(touching(elements.Plane(), step, step), BOX, NOWHERE)])
    assert floor == 0.0 and len(parts) == 1
    points = parts[0].surface.points
    assert np.all(points[:, 2] == 0.4) and np.all(points.min(axis=0)[:2] < BOX[0, :2])
    assert np.all(points.max(axis=0)[:2] > BOX[1, :2])


@pytest.mark.parametrize("normal", [(-0.3, 0.1, 1.0), (1.0, 0.0, 0.1), (0.0, -2.0, 0.0)])
def test_slopes_and_walls_lie_in_their_planes(normal) -> None:
    plane = elements.Plane((0.1, 0.2, 0.3), normal)
    parts, floor = grounds_of([Standing(touching(plane), BOX, NOWHERE)])
    surface = parts[0].surface
    n = np.array(normal) / np.linalg.norm(normal)
    assert np.abs((surface.points - plane.point) @ n).max() < 1e-12 and np.allclose(surface.normals, n)
    a, b, c = np.moveaxis(surface.points[surface.faces], 1, 0)
    assert np.all(np.cross(b - a, c - a) @ n > 0.0)
    assert floor == pytest.approx(min(0.5, surface.points[:, 2].min()))


def hills(x, y):
    return 0.2 * sin(2.0 * x) * sin(3.0 * y) - 0.1 * x


MAP = elements.HeightMap(
    tuple(tuple(0.1 * ((3 * i + 5 * j) % 7) for j in range(5)) for i in range(6)), (0.5, 0.7), (-1, -1)
)


@pytest.mark.parametrize(
    ("ground", "height"),
    [
        (elements.HeightFunction(hills), hills),
        (elements.HeightFunction(lambda x, y: 0.25), lambda x, y: 0.25 + 0.0 * x),
        (elements.HeightFunction(lambda x, y: float(x) * float(y)), lambda x, y: x * y),  # takes no arrays
        (MAP, interpolated(MAP)),
    ],
    ids=["hills", "flat", "of floats", "map"],
)
def test_terrain_has_the_height_of_its_law(ground, height) -> None:
    offset = np.array([0.0, 5.0, 0.0])
    parts, floor = grounds_of([Standing(touching(ground), BOX + offset, offset)])
    surface = parts[0].surface
    assert len(surface.points) == (GRID + 1) ** 2
    x, y, z = (surface.points - offset).T
    assert np.allclose(z, height(x, y), atol=1e-12)
    assert surface.points[:, 2].min() >= floor - 1e-12 and np.all(surface.normals[:, 2] > 0.0)
    a, b, c = np.moveaxis(surface.points[surface.faces], 1, 0)
    across = np.cross(b - a, c - a)
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    assert np.all(across[:, 2] > 0.0)
    assert np.einsum("ij,ij->i", across, surface.normals[surface.faces[:, 0]]).min() > 0.9
    assert np.all(surface.points.min(axis=0)[:2] < (BOX + offset)[0, :2])


def test_grounds_side_by_side_do_not_overlap() -> None:
    standings = []
    for y in (-3.0, 0.0, 3.0):
        offset = np.array([0.0, y, 0.0])
        box = np.array([[-1.0, -1.0, 0.0], [1.0, 1.0, 1.0]]) + offset
        standings.append(Standing(touching(elements.HeightFunction(hills)), box, offset))
    ranges = [(part.surface.points[:, 1].min(), part.surface.points[:, 1].max()) for part in grounds_of(standings)[0]]
    assert ranges[0][1] == pytest.approx(ranges[1][0]) and ranges[1][1] == pytest.approx(ranges[2][0])


def test_a_scene_has_the_ground_of_its_run(dropped: Trajectory) -> None:
    scene = scene_of(dropped)
    (slope,) = scene.grounds
    assert slope.owner == WORLD_OWNER and slope.layer == "shapes"
    assert np.allclose(slope.surface.points @ (-0.2, 0.0, 1.0), 0.0, atol=1e-12)
