"""The strict builder: every mistake is found in one go, in a sentence with thing, value, expectation and remedy."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kinemorph.errors import ModelError, ModelWarning
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.parameter import Parameter
from kinemorph.model.shapes import Box, Cylinder, Mesh
from support.tools.each_case import each_case

NAN, INF = float("nan"), float("inf")
CUBE = (0.1, 0.1, 0.1)


def sound() -> RobotBuilder:
    """Two bodies, two hinges, nothing wrong."""
    builder = RobotBuilder("sound")
    builder.body("base", 2.0, inertia=CUBE).body("arm", 1.0, com=(0.0, 0.0, 0.5), inertia=CUBE)
    builder.root("base", "fixed")
    return builder.joint("hinge", "revolute", "base", "arm", axis=(0.0, 1.0, 0.0), translation=(0.0, 0.0, 1.0))


def hung(**data: Any) -> Callable[[RobotBuilder], object]:
    """One more body on one more joint, with something odd about the joint."""
    kind = data.pop("kind", "revolute")
    return lambda b: b.body("extra", 1.0, inertia=CUBE).joint("odd", kind, "arm", "extra", **data)


def heavy(**data: Any) -> Callable[[RobotBuilder], object]:
    """One more body with something odd about its mass."""
    return lambda b: b.body("odd", **{"mass": 1.0, "inertia": CUBE} | data).joint("j", "revolute", "arm", "odd")


TURN = ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))
# what is done to the sound robot, and what its one complaint must say
MISTAKES: dict[str, tuple[Callable[[RobotBuilder], object], list[str]]] = {
    "zero axis": (hung(axis=(0, 0, 0)), ["joint 'odd': axis", "(0.0, 0.0, 0.0)", "length 1", "Give a unit vector"]),
    "long axis": (hung(axis=(0, 0, 5)), ["joint 'odd': axis", "length 5", "expected length 1", "normalize=True"]),
    "nan axis": (hung(axis=(NAN, 0, 1)), ["joint 'odd': axis[0]", "nan", "finite"]),
    "huge axis": (hung(axis=(1e200, 0, 0)), ["joint 'odd': axis", "1e+200", "expected"]),
    "parameter axis": (hung(axis=(Parameter("a", 1.0), 0, 0)), ["joint 'odd': axis[0]", "plain number"]),
    "short axis": (hung(axis=(0, 1)), ["joint 'odd': axis has 2 entries", "expected 3"]),
    "axis in words": (hung(axis="y"), ["joint 'odd': axis", "'y'", "expected 3 numbers"]),
    "parallel axes": (hung(kind="universal", axis=(1, 0, 0), axis2=(-1, 0, 0)), ["joint 'odd'", "parallel"]),
    "planar axis": (hung(kind="planar", axis=(1, 0, 0)), ["joint 'odd'", "planar", "placement"]),
    "stray pitch": (hung(pitch=0.1), ["joint 'odd'", "pitch is 0.1", "helical"]),
    "unknown kind": (hung(kind="ball"), ["joint 'odd'", "'ball'", "spherical", "Choose"]),
    "kind not text": (hung(kind=["revolute"]), ["joint 'odd'", "['revolute']", "expected one of"]),
    "limits reversed": (hung(lower=1.0, upper=-1.0), ["joint 'odd'", "lower limit 1", "upper limit -1", "Swap"]),
    "nan limit": (hung(lower=NAN), ["joint 'odd': lower", "nan"]),
    "limited ball": (hung(kind="spherical", lower=(0, 0, 0, 0)), ["joint 'odd'", "no limited coordinates"]),
    "too many limits": (hung(lower=(0.0, 1.0)), ["joint 'odd': lower has 2 entries", "expected 1"]),
    "no effort": (hung(effort=0.0), ["joint 'odd'", "effort limit", "above 0"]),
    "negative damping": (hung(damping=-1.0), ["joint 'odd': damping is -1", "at least 0"]),
    "infinite armature": (hung(armature=INF), ["joint 'odd': armature is inf", "finite"]),
    "bent rotation": (hung(rotation=((1, 0, 0), (0, 1, 0.1), (0, 0, 1))), ["joint 'odd': rotation", "orthonormal"]),
    "mirror": (hung(rotation=((1, 0, 0), (0, 1, 0), (0, 0, -1))), ["joint 'odd': rotation", "reflection"]),
    "rotation shape": (hung(rotation=((1, 0), (0, 1))), ["joint 'odd': rotation has 2 entries", "expected 3"]),
    "nan translation": (hung(translation=(0, NAN, 0)), ["joint 'odd': translation[1]", "nan"]),
    "two placements": (hung(placement=(TURN, (0, 0, 0)), rotation=TURN), ["joint 'odd'", "Give either placement"]),
    "negative mass": (heavy(mass=-1.0), ["body 'odd'", "mass is -1", "more than 0"]),
    "nan mass": (heavy(mass=NAN), ["body 'odd': mass is nan", "finite"]),
    "infinite mass": (heavy(mass=INF), ["body 'odd': mass is inf", "finite"]),
    "mass in words": (heavy(mass="heavy"), ["body 'odd': mass is 'heavy'", "expected a number"]),
    "mass as truth": (heavy(mass=True), ["body 'odd': mass is True", "expected a number"]),
    "negative parameter": (heavy(mass=Parameter("m", -2.0)), ["body 'odd'", "mass is -2"]),
    "nan parameter": (
        heavy(mass=1.0 / Parameter("m", 0.0)),
        ["body 'odd': mass is div(1.0, m) = inf", "division by 0"],
    ),
    "negative moment": (heavy(inertia=(-1.0, 0.1, 0.1)), ["body 'odd'", "principal moments", "-1"]),
    "lopsided inertia": (
        heavy(inertia=((1, 0.2, 0), (0, 1, 0), (0, 0, 1))),
        ["body 'odd'", "not symmetric", "Ixy", "0.2"],
    ),
    "inertia shape": (heavy(inertia=(1.0, 1.0)), ["body 'odd': inertia is (1.0, 1.0)", "three moments or a 3 x 3"]),
    "inertia row": (heavy(inertia=((1, 0), (0, 1, 0), (0, 0, 1))), ["body 'odd': inertia row 1 has 2 entries"]),
    "com shape": (heavy(com=(0.0, 1.0)), ["body 'odd': com has 2 entries", "expected 3"]),
    "massless tip": (heavy(mass=0.0, inertia=(0, 0, 0)), ["joint 'j'", "'odd'", "mass 0", "Give it a mass"]),
    "point on its axis": (heavy(com=(0, 0, 1.0), inertia=(0, 0, 0)), ["joint 'j'", "no inertia", "armature"]),
    "body twice": (lambda b: b.body("arm", 1.0, inertia=CUBE), ["body 'arm'", "2 times", "Rename"]),
    "joint twice": (
        lambda b: b.body("c", 1.0, inertia=CUBE).joint("hinge", "revolute", "arm", "c"),
        ["joint 'hinge'", "2 times", "Rename"],
    ),
    "frame twice": (lambda b: b.frame("tip", "arm").frame("tip", "base"), ["frame 'tip'", "2 times"]),
    "frame like a body": (lambda b: b.frame("arm", "base"), ["frame 'arm'", "same name as a body"]),
    "frame nowhere": (lambda b: b.frame("tip", "amr"), ["frame 'tip'", "'amr'", "Did you mean 'arm'?"]),
    "empty name": (
        lambda b: b.body("", 1.0, inertia=CUBE).joint("j", "revolute", "arm", ""),
        ["body", "''", "printable text"],
    ),
    "undeclared root": (lambda b: b.body("lost", 1.0, inertia=CUBE), ["body 'lost'", "root('lost', 'free')"]),
    "joint to itself": (lambda b: b.joint("j", "revolute", "arm", "arm"), ["joint 'j'", "both 'arm'"]),
    "unknown parent": (
        lambda b: b.body("c", 1.0, inertia=CUBE).joint("j", "revolute", "armm", "c"),
        ["joint 'j': parent", "'armm'", "Did you mean 'arm'?"],
    ),
    "unknown child": (lambda b: b.joint("j", "revolute", "arm", "zzz"), ["joint 'j': child", "'zzz'", "Declare"]),
    "ring adrift": (
        lambda b: (
            b.body("c", 1.0, inertia=CUBE)
            .body("d", 1.0, inertia=CUBE)
            .joint("cd", "revolute", "c", "d")
            .joint("dc", "revolute", "d", "c")
        ),
        ["'c', 'd'", "ring", "root"],
    ),
    "loop that holds nothing": (
        lambda b: b.joint("j", "free", "base", "arm"),
        ["joint 'j'", "closes a loop", "constrains nothing"],
    ),
    "coupled to nothing": (lambda b: b.couple("hinge", "hing"), ["'hinge'", "'hing'", "Did you mean 'hinge'?"]),
    "coupled to itself": (lambda b: b.couple("hinge", "hinge"), ["'hinge'", "itself"]),
    "coupled to a weld": (lambda b: b.couple("hinge", "base_root"), ["'base_root'", "0 coordinates", "expected 1"]),
    "one name, two parameters": (
        lambda b: hung(damping=Parameter("k", 1.0), armature=Parameter("k", 2.0))(b),
        ["parameter 'k'", "twice", "Rename"],
    ),
    "flat box": (heavy(shapes=[Box((1.0, 0.0, 1.0))]), ["body 'odd': shape 0 (Box)", "size", "above 0"]),
    "nan shape": (heavy(shapes=[Cylinder(NAN, 1.0)]), ["body 'odd': shape 0 (Cylinder)", "nan"]),
    "loud color": (heavy(shapes=[Box((1.0, 1.0, 1.0), color=(255, 0, 0))]), ["color", "255", "from 0 to 1"]),
    "mesh corner": (heavy(shapes=[Mesh(((0.0, 0.0, 0.0),), ((0, 0, 3),))]), ["Mesh", "face", "not from 0 to 0"]),
    "not a shape": (heavy(shapes=["cube"]), ["shape 0", "'cube'", "Box"]),
}


@each_case("mistake", MISTAKES)
def test_each_mistake_gives_one_clear_sentence(mistake: str) -> None:
    spoil, words = MISTAKES[mistake]
    builder = sound()
    spoil(builder)
    with pytest.raises(ModelError) as caught:
        builder.build()
    (sentence,) = caught.value.problems
    assert all(word in sentence for word in words), sentence
    assert sentence[-1] in ".?"


def test_all_mistakes_are_reported_together() -> None:
    builder = sound()
    builder.gravity = (0.0, NAN, 0.0)
    heavy(mass=-1.0)(builder)
    hung(axis=(0, 0, 0), lower=2.0, upper=1.0)(builder)
    builder.body("lost", 1.0, inertia=(3.0, 1.0, 1.0)).couple("hinge", "nobody").frame("tip", "nowhere")
    problems = builder.problems()
    for word in ("gravity[1]", "mass is -1", "axis", "Swap", "root('lost'", "'nobody'", "'nowhere'"):
        assert sum(word in problem for problem in problems) == 1, word
    assert len(problems) == 7
    with pytest.raises(ModelError) as caught:
        builder.build()
    assert caught.value.problems == problems


@each_case(
    ("data", "words"),
    [
        ({"inertia": (1.0, 0.1, 0.1)}, "triangle inequality fails, 0.1 \\+ 0.1 < 1"),
        ({"mass": 0.0}, "the mass is 0 but"),
    ],
)
def test_masses_that_no_body_has_are_a_warning(data: dict[str, Any], words: str) -> None:
    builder = sound()
    heavy(**data)(builder)
    with pytest.warns(ModelWarning, match=f"body 'odd': .*{words}"):
        builder.build()


def test_an_empty_robot_is_refused() -> None:
    assert "no bodies" in RobotBuilder("void").problems()[0]


def test_a_sound_robot_has_no_problems_and_the_builder_may_go_on() -> None:
    builder = sound()
    assert builder.problems() == ()
    first = builder.build()
    second = builder.body("more", 1.0, inertia=CUBE).joint("j", "prismatic", "arm", "more").build()
    assert first.nv == 1 and second.nv == 2 and sound().build() == first


def test_normalize_scales_an_axis() -> None:
    robot = (
        sound().body("c", 1.0, inertia=CUBE).joint("j", "revolute", "arm", "c", axis=(3, 0, 4), normalize=True).build()
    )
    assert robot.joint("j").axis == (0.6, 0.0, 0.8)


def test_arrays_and_homogeneous_matrices_are_read() -> None:
    T = np.eye(4)
    T[:3, 3] = 1.0, 2.0, 3.0
    builder = sound().body("c", np.float64(1.0), com=np.zeros(3), inertia=np.eye(3))
    placement = (
        builder.joint("j", "revolute", "arm", "c", placement=T, axis=np.array([0, 1, 0])).build().joint("j").placement
    )
    assert placement.p == (1.0, 2.0, 3.0) and type(placement.R[0][1]) is float


def test_ready_made_parts_come_back_unchanged() -> None:
    robot = sound().frame("tip", "arm", translation=(0, 0, 1)).build()
    again = RobotBuilder(robot.name, robot.gravity).add(*robot.bodies, *robot.joints, *robot.frames, *robot.couplings)
    assert again.build() == robot


def test_any_closing_joint_becomes_a_loop_and_the_tree_stays_shallow() -> None:
    builder = RobotBuilder("ring")
    for i in range(4):
        builder.body(f"b{i}", 1.0, inertia=CUBE)
    builder.joint("j0", "revolute", "world", "b0")
    for i in range(3):
        builder.joint(f"j{i + 1}", "spherical", f"b{i}", f"b{i + 1}")
    robot = builder.joint("closing", "fixed", "world", "b3").build()
    assert [loop.name for loop in robot.loops] == ["j3"] and robot.joint_names == ("j0", "j1", "j2", "closing")
    with pytest.raises(ModelError, match="closes a loop"):
        robot.q_slice("j3")


def test_a_joint_back_to_the_world_is_a_loop() -> None:
    robot = sound().joint("tie", "spherical", "arm", "world").build()
    assert [loop.name for loop in robot.loops] == ["tie"] and robot.nv == 1


def test_several_trees_and_children_before_parents() -> None:
    builder = RobotBuilder("pair").joint("hinge", "revolute", "base", "arm", axis=(1, 0, 0)).root("base", "free")
    builder.body("arm", 1.0, inertia=CUBE).body("base", 1.0, inertia=CUBE).body("stone", 1.0, inertia=CUBE)
    robot = builder.root("stone", "free").build()
    assert robot.joint_names == ("hinge", "base_root", "stone_root")
    assert [joint.name for joint in robot.order] == ["base_root", "stone_root", "hinge"]
    assert robot.q_slice("base_root") == slice(1, 8) and robot.v_slice("stone_root") == slice(7, 13)
    assert robot.q_names[:3] == ("hinge", "base_root.x", "base_root.y")


@pytest.mark.parametrize("axes", [((1, 0, 0), (0, 1, 0), (0, 0, 1)), ((0, 0, 1), (0, 1, 0), (1, 0, 0))])
def test_massless_bodies_may_compose_a_joint(axes: tuple[Any, ...]) -> None:
    builder = RobotBuilder("gimbal").add(Body.massless("a"), Body.massless("b"), Body.box("c", 1.0, (0.3, 0.2, 0.1)))
    for name, parent, child, axis in zip("xyz", ("world", "a", "b"), "abc", axes, strict=True):
        builder.joint(name, "revolute", parent, child, axis=axis)
    assert builder.build().nv == 3


def test_two_hinges_on_one_line_with_nothing_between_are_refused_unless_armored() -> None:
    def twins(armature: float) -> tuple[str, ...]:
        builder = RobotBuilder("twins").add(Body.massless("a"), Body.box("b", 1.0, (0.3, 0.2, 0.1)))
        builder.joint("first", "revolute", "world", "a", armature=armature).joint("second", "revolute", "a", "b")
        return builder.problems()

    assert len(twins(0.0)) == 1 and "'first'" in twins(0.0)[0] and "no inertia" in twins(0.0)[0]
    assert twins(0.01) == ()


def test_very_light_robots_are_still_regular() -> None:
    builder = RobotBuilder("mite")
    parent = "world"
    for i in range(4):
        builder.add(Body.cylinder(f"b{i}", 4e-9, 3e-5, 1e-3, (5e-4, 0.0, 0.0), axis="x"))
        builder.joint(f"j{i}", "revolute", parent, f"b{i}", translation=(1e-3 if i else 0.0, 0.0, 0.0), axis=(1, 0, 0))
        parent = f"b{i}"
    assert builder.problems() == ()


def test_finding_things_by_name_helps_with_the_name() -> None:
    robot = sound().frame("tip", "arm").build()
    assert (
        robot.frame("tip").body == "arm" and robot.frame("arm").body == "arm" and robot.frame("world").body == "world"
    )
    for find in (robot.body, robot.joint, robot.frame, robot.q_slice, robot.path_to_root):
        with pytest.raises(ModelError, match=r"there is no .* 'nobody'; expected one of: '"):
            find("nobody")


def test_the_table_lists_tree_joints_then_loops() -> None:
    rows = sound().joint("tie", "spherical", "arm", "world").build().table()
    assert [(row.joint, row.kind, row.q) for row in rows] == [
        ("base_root", "fixed", ()),
        ("hinge", "revolute", ("hinge",)),
        ("tie", "spherical (loop)", ()),
    ]


JUNK = (None, "", "x", -1, NAN, 1e300, [], [1], [[], [], []], ["a", "b", "c"], {}, 1j, True, np.zeros(0), np.array(3.0))
ARGUMENTS = (
    *("mass", "com", "inertia", "shapes"),
    *("axis", "axis2", "pitch", "lower", "upper", "velocity", "effort", "damping", "friction", "armature"),
    *("placement", "child_placement", "translation", "rotation", "kind", "normalize"),
)


@each_case("argument", ARGUMENTS)
@each_case("junk", JUNK, ids=repr)
def test_junk_is_read_or_reported_but_never_breaks_the_builder(argument: str, junk: Any) -> None:
    builder = sound()
    (heavy if argument in ARGUMENTS[:4] else hung)(**{argument: junk})(builder)
    with np.errstate(all="ignore"):
        assert all("odd" in problem or "'j'" in problem for problem in builder.problems())


def test_a_parameter_needs_a_name_and_a_number() -> None:
    with pytest.raises(ModelError, match="name ''"):
        Parameter("", 1.0)
    with pytest.raises(ModelError, match="parameter 'm' is 'two', expected a number"):
        Parameter("m", "two")  # type: ignore[arg-type]


def test_a_joint_from_an_unknown_body_to_itself_is_told_and_no_crash() -> None:
    """Found by fuzzing."""
    builder = RobotBuilder("r").body("a", 1.0).root("a").joint("j", "revolute", "b", "b")
    assert any("there is no body 'b'" in problem for problem in builder.problems())
    assert any("both 'b'" in problem for problem in builder.problems())


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Body.box("a", "1", (1, 1, 1)), r"body 'a': mass is '1', expected a number \[kg\]"),
        (lambda: Body.box("a", 1, (1, 1)), r"size is \(1, 1\), expected three numbers \[m\]"),
        (lambda: Body.box("a", 1, "abc"), "size is 'abc', expected three numbers"),
        (lambda: Body.box("a", 1, (1, 1, 1), center=2.0), r"center is 2\.0, expected three numbers"),
        (lambda: Body.sphere("a", None, 1), "mass is None, expected a number"),
        (lambda: Body.rod("a", 1, "long", axis="w"), r"length is 'long', .*\n.*axis is 'w', expected 'x', 'y' or 'z'"),
        (lambda: Body.cylinder("a", 1, [1], 2), r"radius is \[1\], expected a number \[m\]"),
        (lambda: Body.point("a", 1, (0, 1)), "position is"),
        (lambda: RobotBuilder("a").add(None), "None is not a part of a robot; expected a Body, Joint, Frame"),
        (lambda: RobotBuilder("a").add([Body.massless("b")]), r"Write add\(\*parts\)"),
    ],
)
def test_wrong_types_in_bodies_and_parts_get_a_sentence(make: Callable[[], object], sentence: str) -> None:
    """They raised TypeErrors and ValueErrors from deep inside, such as "can't multiply sequence"."""
    with pytest.raises(ModelError, match=sentence):
        make()


def test_limits_of_a_hinge_in_degrees_give_the_hint_that_files_get() -> None:
    """lower=-90, upper=90 was taken as radians without a word."""

    def robot(lower: float, upper: float, kind: str = "revolute") -> RobotBuilder:
        return (
            RobotBuilder("r")
            .add(Body.rod("b", 1.0, 1.0))
            .joint("hinge", kind, "world", "b", axis=(0.0, 1.0, 0.0), lower=lower, upper=upper)
        )

    with pytest.warns(ModelWarning, match=r"'hinge': its limit is 90 rad.*degrees.* Write 1\.5708 if 90 degrees"):
        assert robot(-90, 90).build().joint("hinge").upper == (90.0,)  # used as written
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot(-1.5, 1.5).build()
        robot(-90, 90, "prismatic").build()
