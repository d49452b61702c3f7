"""Graphs of bodies: orders, cuts, cycles, paths and matrices (requirements 000-16, 000-17, 002-04, 002-05)."""

from __future__ import annotations

import numpy as np

from kinemorph.model import topology
from kinemorph.model.library import four_bar, hexapod24, humanoid
from kinemorph.model.topology import Edge, Method, spanning_tree
from support.tools.each_case import each_case

# the organism of the MODUROB paper: nine modules, three branches from module 0
BRANCHES = ["0-1", "1-2", "0-3", "3-4", "4-5", "0-6", "6-7", "7-8"]
MODULES = [str(i) for i in range(9)]
ORGANISM = [Edge(name, *name.split("-")) for name in BRANCHES]


def test_breadth_first_goes_by_distance_depth_first_by_branch() -> None:
    assert "".join(spanning_tree(MODULES, ORGANISM, "0").order) == "013624758"
    assert "".join(spanning_tree(MODULES, ORGANISM, "0", method="dfs").order) == "012345678"


@each_case("method", ["bfs", "dfs"])
@each_case("root", MODULES)
def test_every_base_reaches_every_module_parent_first(root: str, method: Method) -> None:
    tree = spanning_tree(MODULES, ORGANISM, root, method=method)
    assert sorted(tree.order) == MODULES and tree.order[0] == root and not tree.chords and not tree.unreached
    place = {vertex: i for i, vertex in enumerate(tree.order)}
    assert all(place[step.parent] < place[step.child] for step in tree.steps)
    assert all(step.against == (step.edge.parent == step.child) for step in tree.steps)


def test_paths_and_depths() -> None:
    tree = spanning_tree(MODULES, ORGANISM, "0")
    assert topology.path_to_root(tree.parents, "5") == ("5", "4", "3", "0")
    assert topology.path_between(tree.parents, "2", "7") == ("2", "1", "0", "6", "7")
    assert topology.depths(tree)["8"] == 3


def test_the_central_module_keeps_the_tree_shallow() -> None:
    assert topology.central_vertex(MODULES, ORGANISM) == "0"
    line = [Edge(f"{i}", str(i), str(i + 1)) for i in range(6)]
    assert topology.central_vertex([str(i) for i in range(7)], line) == "3"


def test_cycles_are_cut_so_that_paths_stay_shortest() -> None:
    ring = [Edge(f"e{i}", str(i), str((i + 1) % 6)) for i in range(6)]
    vertices = [str(i) for i in range(6)]
    tree = spanning_tree(vertices, ring, "0")
    assert [chord.name for chord in tree.chords] == ["e3"] and max(topology.depths(tree).values()) == 3
    assert topology.cycles(tree) == {"e3": ("3", "2", "1", "0", "5", "4")}
    deep = spanning_tree(vertices, ring, "0", method="dfs")
    assert len(deep.chords) == 1 and max(topology.depths(deep).values()) == 5


def test_one_chord_for_every_independent_cycle() -> None:
    rng = np.random.default_rng(0)
    vertices = [str(i) for i in range(12)]
    for _ in range(20):
        pairs = {tuple(sorted(rng.choice(12, 2, replace=False))) for _ in range(18)}
        edges = [Edge(f"{a}-{b}", str(a), str(b)) for a, b in sorted(pairs)]
        tree = spanning_tree(vertices, edges, "0")
        reached = len(tree.order)
        inside = [e for e in edges if e.parent in tree.order]
        assert len(tree.chords) == len(inside) - (reached - 1)
        assert set(tree.unreached) == set(vertices) - set(tree.order)
        shallow, deep = topology.depths(tree), topology.depths(spanning_tree(vertices, edges, "0", method="dfs"))
        assert all(shallow[v] <= deep[v] for v in shallow)


def test_a_path_of_many_thousand_bodies_is_no_problem() -> None:
    vertices = [str(i) for i in range(20_000)]
    edges = [Edge(str(i), str(i), str(i + 1)) for i in range(19_999)]
    assert len(spanning_tree(vertices, edges, "0", method="dfs").order) == 20_000


def test_adjacency_is_symmetric_and_counts_joints() -> None:
    adjacency = topology.adjacency_matrix(MODULES, ORGANISM)
    assert np.array_equal(adjacency, adjacency.T)
    assert adjacency[0].sum() == 3 and adjacency.sum() == 2 * len(ORGANISM)


def test_incidence_turns_body_twists_into_joint_twists() -> None:
    robot = hexapod24()
    B = robot.incidence[1:]  # the row of the world removed
    place = {name: i for i, name in enumerate(robot.body_names)}
    twists = np.random.default_rng(1).normal(size=len(robot.bodies))
    relative = [twists[place[j.child]] - (twists[place[j.parent]] if j.parent in place else 0.0) for j in robot.joints]
    assert np.allclose(-B.T @ twists, relative)
    # C = -B^-T has a 1 exactly where the joint lies between the body and the world
    C = -np.linalg.inv(B).T
    for body in robot.body_names:
        above = set(robot.path_to_root(body))
        assert np.allclose(C[place[body]], [joint.child in above for joint in robot.joints])
    assert np.array_equal(robot.incidence.sum(axis=0), np.zeros(len(robot.joints)))


def test_loops_of_a_robot_are_the_chords_of_its_tree() -> None:
    robot = four_bar()
    assert robot.cycles == {"closure": ("coupler", "crank", "world", "rocker")}
    assert robot.incidence.shape == (4, 4) and robot.adjacency.sum() == 8


def test_order_is_parent_first_and_layout_follows_the_declaration() -> None:
    robot = humanoid()
    seen = {"world"}
    for joint in robot.order:
        assert joint.parent in seen
        seen.add(joint.child)
    starts = [robot.q_slice(name).start for name in robot.joint_names]
    assert starts == sorted(starts) and robot.q_slice(robot.joint_names[-1]).stop == robot.nq
