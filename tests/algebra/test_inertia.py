"""Spatial inertia: every form describes the same body; each broken condition is named."""

import math

import numpy as np
import pytest

from kinemorph.algebra import groups as g
from kinemorph.algebra import inertia as body
from kinemorph.algebra import vectors as la
from kinemorph.algebra.dual import derivative
from kinemorph.codegen.graphs.graph import Graph
from support.tools.each_case import each_case

rng = np.random.default_rng(7)
BOX = ((2.0, 0.0, 0.0), (0.0, 3.0, 0.0), (0.0, 0.0, 4.0))


def cloud(n=6):
    """Point masses [kg] and their places [m]: the inertia they make is exact and physical."""
    return rng.uniform(0.5, 2.0, size=n), rng.normal(size=(n, 3))


def of_cloud(masses, places):
    total = masses.sum()
    com = masses @ places / total
    arms = places - com
    moment = sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, arms, strict=True))
    return body.Inertia(float(total), tuple(map(float, com)), tuple(tuple(map(float, row)) for row in moment))


def close(a, b, tolerance=1e-12):
    np.testing.assert_allclose(np.array(a, dtype=float), np.array(b, dtype=float), rtol=tolerance, atol=tolerance)


def same(a, b):
    close((a.mass, *a.com, *np.ravel(a.moment)), (b.mass, *b.com, *np.ravel(b.moment)))


@pytest.fixture(params=range(3), autouse=True)
def trial(request):
    return request.param


def test_momentum_and_energy_are_those_of_the_points():
    masses, places = cloud()
    inertia, V = of_cloud(masses, places), tuple(map(float, rng.normal(size=6)))
    v, w = np.array(V[:3]), np.array(V[3:])
    velocities = v + np.cross(w, places)
    p = masses @ velocities
    L = (masses[:, None] * np.cross(places, velocities)).sum(axis=0)
    close(body.momentum(inertia, V), [*p, *L])
    close(la.matvec(body.spatial(inertia), V), [*p, *L])
    assert body.kinetic_energy(inertia, V) == pytest.approx(0.5 * float(masses @ (velocities**2).sum(axis=1)))
    M = np.array(body.spatial(inertia))
    close(M, M.T)
    assert np.linalg.eigvalsh(M).min() > 0.0


def test_a_body_seen_from_another_frame():
    masses, places = cloud()
    T = g.exp_se3(tuple(map(float, rng.normal(size=6))))
    moved = body.transformed(of_cloud(masses, places), T)
    same(moved, of_cloud(masses, places @ np.array(T.R).T + np.array(T.p)))
    Ad = np.array(g.Ad(g.inverse(T)))
    close(body.spatial(moved), Ad.T @ np.array(body.spatial(of_cloud(masses, places))) @ Ad)


def test_welded_bodies_add():
    masses, places = cloud()
    one, other = of_cloud(masses[:2], places[:2]), of_cloud(masses[2:], places[2:])
    same(body.added(one, other), of_cloud(masses, places))
    close(body.spatial(body.added(one, other)), la.mat_add(body.spatial(one), body.spatial(other)))
    nothing = body.Inertia(0.0, (1.0, 2.0, 3.0), tuple(la.zeros(3) for _ in range(3)))
    same(body.added(one, nothing), one)
    assert body.added(nothing, nothing) == nothing


def test_second_moment_and_pseudo_inertia():
    masses, places = cloud()
    inertia = of_cloud(masses, places)
    sigma = np.einsum("n,ni,nj->ij", masses, places, places)
    close(body.second_moment(inertia), sigma)
    h, about = body.about_origin(inertia)
    close(about, np.trace(sigma) * np.eye(3) - sigma)
    points = np.column_stack([places, np.ones(len(masses))])
    parameters = body.inertial_parameters(inertia)
    close(body.pseudo_inertia(parameters), points.T @ np.diag(masses) @ points)
    close(body.from_pseudo_inertia(body.pseudo_inertia(parameters)), parameters)
    same(body.from_inertial_parameters(parameters), inertia)
    same(body.from_second_moment(inertia.mass, h, sigma.tolist()), inertia)
    same(body.from_origin(inertia.mass, h, about), inertia)


def test_what_is_consistent_is_what_has_a_positive_pseudo_inertia():
    moment = rng.normal(size=(3, 3))
    moment = moment @ moment.T  # positive definite, triangle inequality or not
    inertia = body.Inertia(1.5, (0.1, -0.2, 0.3), tuple(tuple(map(float, row)) for row in moment))
    positive = np.linalg.eigvalsh(np.array(body.pseudo_inertia(body.inertial_parameters(inertia)))).min() > 0.0
    found = body.inertia_problems(inertia.mass, inertia.com, inertia.moment) + body.triangle_doubts(inertia.moment)
    assert positive == (found == [])


def test_bodies_that_exist_have_no_problems():
    inertia = of_cloud(*cloud())
    assert body.inertia_problems(inertia.mass, inertia.com, inertia.moment) == []
    assert body.inertia_problems(1.0, (0, 0, 0), BOX) == []
    assert body.inertia_problems(1.0, (0.0, 0.0, 1.0), la.diagonal((0.1, 0.1, 0.0))) == []  # thin rod
    assert body.inertia_problems(1.0, (0.0, 0.0, 1.0), la.diagonal((0.0, 0.0, 0.0))) == []  # point mass
    for moment in (inertia.moment, BOX, la.diagonal((0.1, 0.1, 0.0)), la.diagonal((0.0, 0.0, 0.0))):
        assert body.triangle_doubts(moment) == []


BROKEN = [
    (math.nan, (0.0, 0.0, 0.0), BOX, ["mass", "nan", "finite"]),
    (math.inf, (0.0, 0.0, 0.0), BOX, ["mass", "inf", "finite"]),
    (1.0, (0.0, math.nan, 0.0), BOX, ["center of mass", "nan", "finite"]),
    (1.0, (0.0, 0.0, 0.0), la.diagonal((1.0, math.inf, 1.0)), ["moment of inertia", "inf", "finite"]),
    (0.0, (0.0, 0.0, 0.0), BOX, ["mass is 0 kg", "more than 0"]),
    (-2.0, (0.0, 0.0, 0.0), BOX, ["mass is -2 kg", "more than 0"]),
    (1.0, (0.0, 0.0, 0.0), ((2.0, 0.1, 0.0), (0.2, 3.0, 0.0), (0.0, 0.0, 4.0)), ["symmetric", "Ixy", "0.1", "0.2"]),
    (1.0, (0.0, 0.0, 0.0), la.diagonal((-1.0, 3.0, 3.0)), ["principal", "-1", "below 0"]),
]


@each_case(("mass", "com", "moment", "words"), BROKEN)
def test_each_broken_condition_is_named_with_its_numbers(mass, com, moment, words):
    (problem,) = body.inertia_problems(mass, com, moment)
    for word in words:
        assert word in problem


def test_moments_that_no_mass_has_are_a_doubt_but_no_problem():
    moment = la.diagonal((1.0, 1.0, 5.0))
    assert body.inertia_problems(1.0, (0.0, 0.0, 0.0), moment) == []
    (doubt,) = body.triangle_doubts(moment)
    assert "triangle inequality" in doubt and "1 + 1 < 5" in doubt


def test_products_too_large_for_the_moments_are_a_doubt_but_no_problem():
    moment = ((1.0, 2.0, 0.0), (2.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    assert body.inertia_problems(1.0, (0.0, 0.0, 0.0), moment) == []
    (doubt,) = body.triangle_doubts(moment)
    assert "principal moments are -1, 1, 3" in doubt and "below 0" in doubt


def test_moments_of_a_mass_within_a_nanometer_of_an_axis_are_rounding():
    moment = la.diagonal((-5e-20, 0.0, 1e-19))
    assert body.inertia_problems(2.0, (0.0, 0.0, 0.0), moment) == [] == body.triangle_doubts(moment, 2.0)
    assert body.inertia_problems(1e-3, (0.0, 0.0, 0.0), moment) != []


def test_all_broken_conditions_are_told_at_once():
    assert len(body.inertia_problems(-1.0, (0, 0, 0), la.diagonal((-1.0, 1.0, 5.0)))) == 2
    assert len(body.inertia_problems(math.nan, (math.inf, 0, 0), BOX)) == 2


def test_symbolic_masses_go_through(through_graph):
    V, m = tuple(map(float, rng.normal(size=6))), 1.7

    def energy(v):
        return body.kinetic_energy(body.Inertia(v[0], (0.1, 0.0, 0.0), BOX), V)

    assert through_graph(energy, (m,)) == pytest.approx(energy((m,)))
    assert derivative(lambda x: energy((x,)), m) == pytest.approx(energy((1.0,)) - energy((0.0,)))
    graph = Graph()
    M = body.spatial(body.Inertia(graph.input("m"), (0.0, 0.0, 0.0), BOX))
    assert len(graph) == 2 and M[0][4] == 0.0 and M[3][3] == 2.0  # a centered body: no products at all
