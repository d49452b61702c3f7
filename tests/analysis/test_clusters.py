"""Clusters of coupled maps: figures of their gaits over many seeds, periods and groups of known orbits, bad input."""

import re

import numpy as np
import pytest

from kinemorph.analysis.gait_clusters import Orbit, classified, gait_clusters, map_orbits
from kinemorph.errors import KinemorphError
from kinemorph.mechanics.elements.gaits.map_steps import random_start
from kinemorph.mechanics.elements.law import law_of
from kinemorph.model.elements import CoupledMaps

# ── the figures that are known of six logistic maps, seen in 20 starts of 20,000 steps ────────────────────────────────

ROBUST = [
    (3.9, "global", 0.3, "2 clusters, period 2"),
    (3.9, "ring", 0.5, "3 clusters, period 2"),
    (3.9, "global", 0.5, "synchronous chaos"),
    (3.9, "global", 0.1, "asynchronous"),
    (3.9, "ring", 0.1, "asynchronous"),
]
STARTS = [
    (3.2, "ring", 0.1, "in phase, period 2", 12),
    (3.5, "ring", 0.1, "4 clusters, period 4", 11),
    (3.5, "global", 0.1, "2 clusters, period 2", 10),
    (3.83, "ring", 0.5, "3 clusters, period 2", 19),
    (3.83, "ring", 0.5, "in phase, period 3", 1),
    (3.83, "global", 0.3, "2 clusters, period 2", 12),
]  # how many of 20


@pytest.mark.parametrize(("r", "coupling", "epsilon", "kind"), ROBUST)
def test_gaits_that_every_start_leads_to(r, coupling, epsilon, kind):
    found = gait_clusters("logistic", r, coupling, epsilon)
    assert sum(found.frequencies.values()) == 100 and found.frequencies[kind] >= 95


def test_chaos_falls_into_two_groups_of_three_in_antiphase():
    found = gait_clusters("logistic", 3.9, "global", 0.3)
    assert all(orbit.antiphase and orbit.sizes == (3, 3) for orbit in found.orbits)


# Clopper and Pearson's 99 % range of a share that is seen in k of 20: beta(k, 21 - k) and beta(k + 1, 20 - k)
RANGES = {1: (0.00025, 0.31714), 10: (0.21775, 0.78225), 11: (0.25723, 0.81935), 12: (0.29909, 0.85402)}
RANGES[19] = (0.68286, 0.99975)


@pytest.mark.parametrize(("r", "coupling", "epsilon", "kind", "seen"), STARTS)
def test_gaits_that_depend_on_the_start(r, coupling, epsilon, kind, seen):
    least, most = RANGES[seen]
    share = gait_clusters("logistic", r, coupling, epsilon).frequencies[kind] / 100.0
    assert least <= share <= most


@pytest.mark.slow
def test_shares_of_ten_thousand_starts():
    """What 100 starts estimate, to 2.58 deviations of such an estimate."""
    for r, coupling, epsilon, kind, _ in STARTS:
        few, many = (gait_clusters("logistic", r, coupling, epsilon, seeds=n) for n in (100, 10_000))
        share = many.frequencies[kind] / 10_000
        assert abs(few.frequencies[kind] / 100 - share) < 2.58 * np.sqrt(share * (1.0 - share) / 100)


# ── orbits that are known ─────────────────────────────────────────────────────────────────────────────────────────────


def test_periods_groups_and_shifts_of_made_up_orbits():
    n = np.arange(40)
    wave = np.array([0.1, 0.5, 0.9, 0.4])[n % 4]
    noise = np.random.default_rng(0).random((40, 3))
    paths = [
        np.stack([wave, np.roll(wave, 2), wave], axis=1),
        np.stack([wave, np.roll(wave, 1), np.roll(wave, 3)], axis=1),
        np.full((40, 3), 0.3),
        np.stack([noise[:, 0]] * 3, axis=1),
        np.stack([noise[:, 0], noise[:, 1], noise[:, 0]], axis=1),
        noise,
        np.stack([wave, 0.5 + 0.3 * (0.5 - wave), 0.0 * wave], axis=1),
    ]
    found = classified(np.array(paths), 16)
    assert found[0] == Orbit(4, ((0, 2), (1,)), (0, 2)) and found[0].antiphase
    assert found[1] == Orbit(4, ((0,), (1,), (2,)), (0, 1, 3))
    kinds = [orbit.kind for orbit in found]
    assert kinds[:2] == ["2 clusters, period 4", "3 clusters, period 4"]
    assert kinds[2:6] == ["at rest", "synchronous chaos", "2 clusters, chaotic", "asynchronous"]
    assert found[6].shifts == (0, 2, 0) and found[0].sizes == (2, 1)
    assert not any(orbit.antiphase for orbit in found[1:])


def test_maps_are_near_each_other_only_within_the_tolerance():
    path = np.full((1, 40, 2), 0.3)
    path[:, :, 1] += 1e-5
    assert [len(classified(path, 16, tolerance)[0].groups) for tolerance in (1e-6, 1e-4)] == [2, 1]


def test_machine_code_steps_as_a_gait_does():
    """The same numbers, to the last bit, as the memory that a gait begins with: seed 7 here is seed 7 there."""
    joints = tuple(f"q{k}" for k in range(6))
    for coupling in ("global", "ring"):
        gait = CoupledMaps("g", joints, coupling=coupling, epsilon=0.1, seed=7, settle=1000)
        begun = [slot.start for slot in law_of(gait).memory(gait)][1:]
        starts = [random_start(seed, 6) for seed in range(10)]
        path = map_orbits("logistic", coupling, starts, 3.9, 0.1, steps=1000, keep=129)
        assert np.array_equal(path[7, :2].T.ravel(), begun)


def test_a_result_tells_itself():
    found = gait_clusters("logistic", 3.83, "ring", 0.5, seeds=(3, 5, 8))
    assert found.seeds == (3, 5, 8) and sum(found.frequencies.values()) == 3
    kind = next(iter(found.frequencies))
    assert {"kind", "starts", "share", "sizes", "antiphase", "seed"} == set(found.table[0])
    assert found.of(kind) and kind in str(found) and str(found).startswith("Clusters of logistic\n\nmaps       6\n")
    assert "orbits" not in repr(found)
    again = gait_clusters("logistic", 3.83, "ring", 0.5, seeds=10)
    assert [again.orbits[k] for k in (3, 5, 8)] == list(found.orbits)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"map": "logistc"}, "map is 'logistc'; expected one of logistic, tent, sine, cubic. Did you mean 'logistic'?"),
        ({"coupling": "star"}, "coupling is 'star'; expected one of ring, chain, global."),
        ({"r": 4.01}, "coupled maps: r is 4.01; expected a number from 0 to 4"),
        ({"r": float("nan")}, "coupled maps: r is nan"),
        (
            {"epsilon": -0.1},
            "coupled maps: epsilon is -0.1; expected a number from 0 (each map",
        ),
        ({"count": 0}, "count is 0; expected a whole number from 1 to 256"),
        ({"seeds": ()}, "seeds is 0; expected a whole number from 1"),
        ({"steps": 2.5}, "steps is 2.5; expected a whole number"),
    ],
)
def test_bad_input_is_a_sentence(given, sentence):
    with pytest.raises(KinemorphError, match=re.escape(sentence)):
        gait_clusters(**given)
