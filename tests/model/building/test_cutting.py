"""Which joints close loops: shallow trees, cuts by hand, joints that are turned round, and sentences for the rest."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from kinemorph import load_text
from kinemorph.errors import ModelError, ModelWarning, ParseError
from kinemorph.model import topology
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.robot import Robot
from kinemorph.model.topology import Edge, spanning_tree, straight_tree


def ring(count: int, base: str = "fixed", cut: int | None = None) -> RobotBuilder:
    """Bodies b0 .. in a ring, joined by e0 (b0 - b1), e1 (b1 - b2) and so on; b0 hangs on the world."""
    builder = RobotBuilder("ring").add(*(Body.box(f"b{i}", 1.0, (0.1, 0.2, 0.3)) for i in range(count)))
    builder.root("b0", base)
    for i in range(count):
        a, b = f"b{i}", f"b{(i + 1) % count}"
        builder.connect(a, b, name=f"e{i}", translation=(1.0, 0.0, 0.0), cut=i == cut)
    return builder


def depth(robot: Robot) -> int:
    return max(topology.depths(robot.tree).values())


def sentence(builder: RobotBuilder) -> str:
    """The only sentence that a builder has."""
    found = builder.problems()
    assert len(found) == 1, found
    with pytest.raises(ModelError):
        builder.build()
    return found[0]


# ── the choice ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("count", [3, 6, 7])
def test_connections_leave_a_shallow_tree_with_one_loop(count: int, base: str) -> None:
    robot = ring(count, base).build()
    assert depth(robot) == 1 + count // 2 and len(robot.loops) == 1
    assert {joint.child for joint in robot.joints} == set(robot.body_names)


def test_several_loops_are_found_and_names_are_made() -> None:
    builder = RobotBuilder("frame").add(*(Body.box(name, 1.0, (0.1, 0.2, 0.3)) for name in "abcd"))
    for a, b in itertools.combinations(("world", *"abcd"), 2):
        builder.connect(a, b, "spherical")
    robot = builder.connect("a", "b", "revolute").build()
    assert len(robot.loops) == 11 - 4 and depth(robot) == 1
    assert robot.joint_names == ("world_a", "world_b", "world_c", "world_d")
    assert [loop.name for loop in robot.loops][-1] == "a_b_2"


def test_a_connection_may_be_told_from_either_end() -> None:
    builder = RobotBuilder("arm").add(*(Body.box(name, 1.0, (0.1, 0.2, 0.3)) for name in "ab"))
    builder.connect("b", "a", "revolute", name="elbow", axis=(0.0, 1.0, 0.0), lower=-1.0, upper=2.0)
    robot = builder.connect("a", "world", "prismatic", name="slide").build()
    elbow = robot.joint("elbow")
    assert (elbow.parent, elbow.child) == ("a", "b") and not robot.loops
    assert elbow.axis == (0.0, -1.0, 0.0) and (elbow.lower, elbow.upper) == ((-1.0,), (2.0,))
    assert (robot.joint("slide").parent, robot.joint("slide").axis) == ("world", (0.0, 0.0, -1.0))


def test_the_straight_tree_is_breadth_first_where_directions_suffice() -> None:
    rng = np.random.default_rng(4)
    vertices = [str(i) for i in range(15)]
    for _ in range(30):
        pairs = [rng.choice(15, 2, replace=False) for _ in range(30)]
        edges = [Edge(f"e{i}", str(a), str(b)) for i, (a, b) in enumerate(pairs)]
        names = [edge.name for edge in edges]
        assert straight_tree(vertices, edges, "0") == spanning_tree(vertices, edges, "0", directed=True)
        both, free = spanning_tree(vertices, edges, "0"), straight_tree(vertices, edges, "0", either=names)
        assert topology.depths(free) == topology.depths(both)
        turned = straight_tree(vertices, edges, "0", against=names)
        assert set(turned.order) == set(both.order)
        straight = set(spanning_tree(vertices, edges, "0", directed=True).order)
        assert all(step.child not in straight for step in turned.steps if step.against)


# ── by hand ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("cut", range(5))
def test_the_cut_is_where_it_is_asked_for(cut: int) -> None:
    robot = ring(5, "free", cut).build()
    assert [loop.name for loop in robot.loops] == [f"e{cut}"]
    assert robot.joint_names == ("b0_root", *(f"e{i}" for i in range(5) if i != cut))


def test_joints_with_a_direction_are_turned_round_where_a_cut_asks_for_it() -> None:
    builder = RobotBuilder("chain").add(*(Body.box(name, 1.0, (0.1, 0.2, 0.3)) for name in "abc"))
    builder.joint("wa", "revolute", "world", "a", cut=True)
    builder.joint("ab", "revolute", "a", "b").joint("bc", "universal", "b", "c").joint("wc", "revolute", "world", "c")
    robot = builder.build()
    assert [(j.name, j.parent, j.child) for j in robot.joints] == [
        ("ab", "b", "a"),
        ("bc", "c", "b"),
        ("wc", "world", "c"),
    ]
    assert [loop.name for loop in robot.loops] == ["wa"]


# ── sentences ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def two(*, root: bool = True) -> RobotBuilder:
    builder = RobotBuilder("two").add(*(Body.box(name, 1.0, (0.1, 0.2, 0.3)) for name in "ab"))
    return builder.joint("wa", "revolute", "world", "a") if root else builder


def test_a_cut_that_closes_no_cycle_is_named() -> None:
    told = sentence(two().joint("ab", "revolute", "a", "b", cut=True))
    assert told.startswith(
        "joint 'ab': it has cut=True, but closes no loop: without it body 'b' would not be connected"
    )


def test_too_many_cuts_of_one_cycle_are_named() -> None:
    builder = two().joint("ab", "revolute", "a", "b", cut=True).joint("wb", "revolute", "world", "b", cut=True)
    assert "'wb'" in (told := sentence(builder.joint("ba", "spherical", "b", "a", cut=True))) or "'ab'" in told
    assert "closes no loop after the other cuts" in told


def test_a_cut_that_is_neither_true_nor_false_is_named() -> None:
    assert "cut is 'yes', expected True or False" in sentence(two().joint("ab", "revolute", "a", "b", cut="yes"))


def test_a_joint_that_cannot_be_turned_round_says_so() -> None:
    builder = two().joint("ba", "spherical", "b", "a", damping=(0.1, 0.2, 0.3))
    builder.joint("wb", "revolute", "world", "b", cut=True)
    assert sentence(builder).startswith("joint 'ba': it would have to be reversed, so that 'b' is its child, but dam")


def test_a_body_that_is_only_a_parent_hears_of_both_remedies() -> None:
    told = sentence(two().joint("ba", "revolute", "b", "a"))
    assert "body 'b': it is not the child of a joint" in told and "root('b', 'free')" in told
    assert "to make 'a' its parent, swap parent and child of joint 'ba'" in told


@pytest.mark.parametrize("cut", [False, True])
def test_a_free_joint_closes_nothing(cut: bool) -> None:
    builder = two().joint("ab", "revolute", "a", "b").joint("wb", "free", "a", "b", cut=cut)
    assert "'wb': it closes a loop but is free: it constrains nothing" in sentence(builder)


def test_a_loop_on_itself_and_on_nobody() -> None:
    assert "parent and child are both 'a'" in sentence(two().root("b").connect("a", "a"))
    told = sentence(two().root("b").connect("a", "bb"))
    assert "there is no body 'bb'" in told and "Did you mean 'b'" in told


def test_what_a_loop_says_in_vain_is_a_warning() -> None:
    builder = two().joint("wb", "revolute", "world", "b").joint("ab", "revolute", "a", "b", damping=0.1, upper=1.0)
    with pytest.warns(ModelWarning, match="'ab': it closes a loop, so .* on which its limits, damping could act"):
        builder.build()
    again = two().joint("ab", "revolute", "a", "b", translation=(1.0, 0.0, 0.0))
    again.connect("a", "b", name="same", translation=(1.0, 0.0, 0.0), axis=(0.0, 0.0, -1.0))
    with pytest.warns(ModelWarning, match="'same': it closes a loop, but has the same bodies, .* as joint 'ab'"):
        again.build()


@pytest.mark.parametrize(("joint", "leader"), [("ab", "wa"), ("wa", "ab")])
def test_a_coupling_needs_coordinates(joint: str, leader: str) -> None:
    builder = two().joint("wb", "revolute", "world", "b").joint("ab", "revolute", "a", "b").couple(joint, leader)
    assert "joint 'ab' closes a loop, so it has no coordinate" in (told := sentence(builder)) and "cut=True" in told


# ── gears and racks ───────────────────────────────────────────────────────────────────────────────────────────────────


def train() -> RobotBuilder:
    builder = two().joint("wb", "revolute", "world", "b").add(Body.box("c", 1.0, (0.1, 0.2, 0.3)))
    return builder.joint("wc", "prismatic", "world", "c")


def test_gears_and_racks_are_couplings() -> None:
    def multiplier(builder: RobotBuilder) -> object:
        return builder.build().couplings[0].multiplier

    assert multiplier(train().gear("wb", "wa", 4.0)) == -0.25
    assert multiplier(train().gear("wb", "wa", 4.0, internal=True)) == 0.25
    assert multiplier(train().gear("wb", "wa", teeth=(40, 20))) == -0.5
    assert multiplier(train().rack("wc", "wa", 0.05)) == 0.05


BAD = {
    "neither ratio nor teeth": lambda b: b.gear("wb", "wa"),
    "ratio, teeth are given together": lambda b: b.gear("wb", "wa", 2.0, teeth=(1, 2)),
    "ratio is 0, expected a number above 0": lambda b: b.gear("wb", "wa", 0),
    "teeth[1] is -3, expected a number above 0": lambda b: b.gear("wb", "wa", teeth=(1, -3)),
    "radius is -0.1, expected a number above 0": lambda b: b.rack("wc", "wa", -0.1),
    "joint 'wc' is not rotational, expected a rotational joint in a gear": lambda b: b.gear("wc", "wa", 2.0),
    "joint 'wb' is not translational, expected a translational joint in a rack": lambda b: b.rack("wb", "wa", 2.0),
    "internal is 'no'": lambda b: b.gear("wb", "wa", 2.0, internal="no"),
    "there is no tree joint 'wd'": lambda b: b.gear("wd", "wa", 2.0),
}


@pytest.mark.parametrize("words", BAD)
def test_gears_that_cannot_be_are_named(words: str) -> None:
    assert words in sentence(BAD[words](train()))


# ── in files ──────────────────────────────────────────────────────────────────────────────────────────────────────────

FILE = """
kinemorph = 1
[bodies]
a = { mass = 1, solid = { kind = "box", size = [0.1, 0.2, 0.3] } }
b = { mass = 1, solid = { kind = "box", size = [0.1, 0.2, 0.3] } }
c = { mass = 1, solid = { kind = "box", size = [0.1, 0.2, 0.3] } }
[joints]
wa = { kind = "revolute", parent = "world", child = "a" }
ab = { kind = "revolute", parent = "a", child = "b", translation = [1, 0, 0] }
bw = { kind = "revolute", parent = "b", child = "world", translation = [1, 0, 0], cut = true }
wc = { kind = "prismatic", parent = "world", child = "c" }
"""


def test_a_file_says_where_to_cut() -> None:
    robot = load_text(FILE, "toml").robot
    assert [loop.name for loop in robot.loops] == ["bw"] and robot.joint_names == ("wa", "ab", "wc")
    other = load_text(FILE.replace(", cut = true", "").replace('child = "a"', 'child = "a", cut = true'), "toml").robot
    assert [(j.name, j.parent, j.child) for j in other.joints] == [
        ("ab", "b", "a"),
        ("bw", "world", "b"),
        ("wc", "world", "c"),
    ]


@pytest.mark.parametrize(
    ("text", "multiplier"),
    [
        ('[couplings.ab]\nleader = "wa"\nratio = 4\n', -0.25),
        ('[couplings.ab]\nleader = "wa"\nteeth = [40, 20]\ninternal = true\n', 0.5),
        ('[couplings.wc]\nleader = "wa"\nradius = "5 cm"\n', 0.05),
        ('[couplings.ab]\nleader = "wa"\n', 1.0),
    ],
)
def test_a_file_has_gears_and_racks(text: str, multiplier: float) -> None:
    robot = load_text(FILE + text, "toml").robot
    assert robot.couplings[0].multiplier == multiplier


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("cut = true", "cut = 1", "cut is 1, expected true or false"),
        (
            'child = "c" }',
            'child = "c", cut = true }',
            "joint 'wc': it has cut=True, but closes no loop: without it body 'c'",
        ),
        ("", '\n[couplings.bw]\nleader = "wa"\n', "joint 'bw' closes a loop, so it has no coordinate"),
        ("", '\n[couplings.ab]\nleader = "wa"\nratio = 2\nmultiplier = 2\n', "multiplier, ratio are given together"),
        ("", '\n[couplings.wc]\nleader = "wa"\nratio = 2\n', "joint 'wc' is not rotational"),
    ],
)
def test_a_file_that_is_cut_wrongly_is_told(before: str, after: str, words: str) -> None:
    text = FILE.replace(before, after) if before else FILE + after
    with pytest.raises(ParseError) as told:
        load_text(text, "toml")
    (problem,) = told.value.problems
    assert words in problem
