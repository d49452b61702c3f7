"""Every method gives the same bits, whatever chunk of a study an item is in."""

from __future__ import annotations

import numpy as np
import pytest

from kinemorph import library
from kinemorph.simulation.integrators.methods import METHODS
from kinemorph.studies.experiments.experiment import Experiment, experiment_of
from kinemorph.studies.items import Items
from kinemorph.studies.outcomes import Chunk, State
from support.studies.experiments import ITEMS, computed, double_pendulum, items, swings


def same_in_any_chunk(experiment: Experiment, given: Items) -> None:
    """Asserts that measures and causes have the same bits in chunks of 1, 2 and 7 items, in any order, as in one."""
    whole = computed(experiment, given)
    assert (whole.states == State.DONE).any()
    for size in (1, 2, 7):
        order = np.random.default_rng(size).permutation(len(given))
        measures, causes = np.full_like(whole.measures, np.nan), dict[int, str]()
        for first in range(0, len(given), size):
            some = order[first : first + size]
            part = experiment.compute(Chunk(some, given.taken(some)))
            measures[some] = part.measures
            causes |= part.causes
        assert measures.tobytes() == whole.measures.tobytes() and causes == whole.causes


@pytest.mark.slow
@pytest.mark.parametrize("method", [*METHODS])
def test_every_method_gives_the_same_bits_in_any_chunk(method: str) -> None:
    if method == "moreau":  # the method for rigid contacts
        block = library.sliding_block()
        name = f"v.{block.robot.v_names[0]}"
        given = items({name: np.linspace(0.1, 0.9, ITEMS)})
        same_in_any_chunk(experiment_of(block, name, until=0.2, method=method, step=1e-3), given)
    else:
        experiment = experiment_of(double_pendulum(), ["q.q1", "v.q2"], until=0.3, method=method, step=1e-3)
        same_in_any_chunk(experiment, swings())


@pytest.mark.slow
@pytest.mark.parametrize("loops", ["projection", "baumgarte", "partitioning", "perturbation", "multipliers"])
def test_loops_give_the_same_bits_in_any_chunk(loops: str) -> None:
    given = items({"q.q1": np.linspace(0.3, 1.2, ITEMS), "v.q1": np.linspace(0.5, 3.0, ITEMS)})
    same_in_any_chunk(experiment_of(library.four_bar(), ["q.q1", "v.q3"], until=0.3, loops=loops), given)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["crawler", "rigid_ball", "rocking_block", "simplest_walker", "slip_runner", "rover"])
def test_contacts_and_events_give_the_same_bits_in_any_chunk(name: str) -> None:
    system = getattr(library, name)()
    velocity = system.robot.v_names[-1]
    begin = system.initial_state()[1][-1]
    measures = [*(f"q.{one}" for one in system.robot.q_names), *(f"v.{one}" for one in system.robot.v_names)]
    given = items({f"v.{velocity}": begin + np.linspace(0.01, 0.3, ITEMS)})
    same_in_any_chunk(experiment_of(system, measures, until=0.3), given)
