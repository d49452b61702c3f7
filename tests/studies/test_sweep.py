"""Sweeps: what is done is not done again, what changed is refused, runs are kept by rule (VALIDATION 12, 13)."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinemorph
from kinemorph.errors import ChangedError, ModelError, StorageError, StudyWarning, UnsupportedError
from kinemorph.studies import BestRuns, Choice, Range, Space, Values, load_study, sweep
from kinemorph.studies.dispatch.tally import Tally
from kinemorph.studies.sweeps import sweep as module


def square(x: float) -> float:
    return x * x


def picky(x: float) -> dict[str, float]:
    if x == 2.0:
        raise ValueError("two is not liked")
    return {"half": x / 2.0, "wrong": np.nan if x == 3.0 else 1.0}


def test_a_sweep_computes_only_what_has_no_result(tmp_path: Path) -> None:
    store = tmp_path / "folder" / "squares.study"
    first = sweep(square, Space({"x": Values([1.0, 2.0, 3.0])}), store=store, workers=0)
    more = sweep(square, Space({"x": Values([5.0, 3.0, 2.0, 1.0])}), store=store, workers=0)
    assert [study.tally.total for study in (first, more) if study.tally] == [3, 1]
    assert [item.values["x"] for item in first.best(count=3)] == [1.0, 2.0, 3.0]
    assert more["x"].tolist() == [1.0, 2.0, 3.0, 5.0] and more[more.measures[0]].tolist() == [1.0, 4.0, 9.0, 25.0]
    assert load_study(store)["x"].tolist() == more["x"].tolist()
    with pytest.raises(StorageError, match="has results already, but resume is False"):
        sweep(square, Space({"x": Values([1.0])}), store=store, workers=0, resume=False)


def test_what_changed_is_refused_or_computed_again(tmp_path: Path) -> None:
    store, space = tmp_path / "a.study", Space({"q.q1": Values([0.1, 0.2])})
    pendulum = kinemorph.library.pendulum()
    sweep(pendulum, space, {"angle": "q.q1"}, until=0.1, store=store, workers=0)
    with pytest.raises(ChangedError, match=r"measure angle: 'q\.q1' -> '2 \* q\.q1'"):
        sweep(pendulum, space, {"angle": "2 * q.q1"}, until=0.1, store=store, workers=0)
    again = sweep(pendulum, space, {"angle": "2 * q.q1"}, until=0.1, store=store, workers=0, changed="recompute")
    assert again["angle"] == pytest.approx(2.0 * sweep(pendulum, space, {"a": "q.q1"}, until=0.1, workers=0)["a"])


def test_the_end_of_runs_that_nobody_has_chosen_is_told() -> None:
    pendulum, space = kinemorph.library.pendulum(), Space({"q.q1": Values([0.1, 0.2])})
    with pytest.warns(StudyWarning, match=r"end after 10 s, since no other time is given. `until` chooses one"):
        sweep(pendulum, space, {"angle": "q.q1"}, workers=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sweep(pendulum, space, {"angle": "q.q1"}, workers=0, run={"time": 10.0, "q": [0.1]})
        sweep(pendulum, Space({"until": Values([0.1, 10.0])}), {"angle": "q.q1"}, workers=0)


def test_friction_of_a_model_without_contacts_is_refused_with_what_makes_them() -> None:
    space = Space({"ground.mu": Values([0.1, 0.2])})
    with pytest.raises(ModelError, match=r"'ground.mu': .* touches with friction.* run=\{\}, .* base = \"free\""):
        sweep(kinemorph.library.pendulum(), space, {"angle": "q.q1"}, until=0.1, workers=0)


def test_names_of_measures_are_listed_as_texts_spell_them() -> None:
    space = Space({"u.q1": Values([0.1, 0.2])})
    with pytest.raises(ModelError, match=r"names 'energy.total'.*Known: t, q.q1, v.q1, `supplied energy`"):
        sweep(kinemorph.library.pendulum(), space, {"energy": "energy.total"}, until=0.1, workers=0)


def test_a_study_may_get_further_labels_of_a_choice(tmp_path: Path) -> None:
    store = tmp_path / "a.study"
    short, long = (kinemorph.library.pendulum(length=length) for length in (0.5, 2.0))
    sweep(None, Space({"model": Choice({"short": short})}), {"a": "q.q1"}, until=0.1, store=store, workers=0, q=[0.1])
    grown = Space({"model": Choice({"long": long, "short": short})})
    study = sweep(None, grown, {"a": "q.q1"}, until=0.1, store=store, workers=0, q=[0.1])
    assert study.status == (2, 2, 0) and study["a"][0] < study["a"][1]
    changed = Space({"model": Choice({"short": long})})
    with pytest.raises(ChangedError, match="choice model short"):
        sweep(None, changed, {"a": "q.q1"}, until=0.1, store=store, workers=0, q=[0.1])
    less = Space({"model": Choice({"short": short})})
    sweep(None, less, {"a": "q.q1"}, until=0.1, store=store, workers=0, q=[0.1])
    forgotten = Space({"model": Choice({"long": short})})
    with pytest.raises(ChangedError, match="choice model long"):  # its result is there, whoever asked for it last
        sweep(None, forgotten, {"a": "q.q1"}, until=0.1, store=store, workers=0, q=[0.1])


def test_runs_are_kept_by_rule(tmp_path: Path) -> None:
    store, space = tmp_path / "a.study", Space({"q.q1": Range(0.1, 0.5, points=5)})
    given = {"until": 0.1, "store": store, "workers": 0}
    pendulum = kinemorph.library.pendulum()
    best, tallies = BestRuns(2, "angle", largest=True), list[Tally]()
    study = sweep(pendulum, space, {"angle": "q.q1"}, keep=best, progress=tallies.append, **given)
    assert sorted(study.table.runs) == [3, 4]
    assert list(dict.fromkeys((one.what, one.total) for one in tallies)) == [("items", 5), ("runs to be kept", 2)]
    kept, computed = load_study(store).item(4).run(), study.item(4).run()
    assert kept.q.tobytes() == computed.q.tobytes() and kept.q[-1, 0] == study["angle"][4]
    assert len(sweep(pendulum, space, {"angle": "q.q1"}, keep="all", **given).table.runs) == 5
    lost = next((tmp_path / "a.study.runs").iterdir())
    lost.unlink()
    assert len(study.store.lost_runs(load_study(store).table)) == 1
    sweep(pendulum, space, {"angle": "q.q1"}, keep="all", **given)  # it is computed again
    assert lost.exists()
    with pytest.raises(UnsupportedError, match="keep is 'best'"):
        sweep(pendulum, space, {"angle": "q.q1"}, keep="best", **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(("keep", "asked", "lacking"), [("all", 0, 3), (BestRuns(2, "value"), 2, 2), ("failed", 0, 0)])
def test_runs_that_a_model_does_not_give_are_told_and_not_asked_for_twice(
    keep: Any, asked: int, lacking: int, tmp_path: Path
) -> None:
    space, given = Space({"x": Values([1.0, 2.0, 3.0])}), {"store": tmp_path / "a.study", "workers": 0, "keep": keep}
    for expected in ((3, asked), (0, lacking)):  # items, and runs to be kept
        tallies = list[Tally]()
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            study = sweep(square, space, progress=tallies.append, **given)
        computed = {one.what: one.total for one in tallies}
        assert (computed.get("items", 0), computed.get("runs to be kept", 0)) == expected and not study.table.runs
        assert [str(one.message)[:25] for one in told] == [f"No run is kept of {lacking} items"] * (lacking > 0)


def test_runs_to_be_kept_are_those_of_the_items_that_are_asked_for_and_can_be_interrupted(tmp_path: Path) -> None:
    def interrupt(tally: Tally) -> None:
        if tally.what == what:
            raise KeyboardInterrupt

    pendulum, measure = kinemorph.library.pendulum(), {"angle": "q.q1"}
    given: dict[str, Any] = {"until": 0.1, "store": tmp_path / "a.study", "workers": 0}
    first, all_four = Space({"q.q1": Values([0.1, 0.2])}), Space({"q.q1": Values([0.1, 0.2, 0.3, 0.4])})
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is said of runs that are not kept since Ctrl-C came first
        sweep(pendulum, all_four, measure, **given)
        for what in ("runs to be kept", "nothing"):
            study = sweep(pendulum, first, measure, keep="all", progress=interrupt, **given)
            assert study.tally is not None and study.tally.is_interrupted == (what != "nothing")
        assert sorted(study.table.runs) == [0, 1]
        what, more = "items", Space({"q.q1": Values([0.5, 0.6])})
        study = sweep(pendulum, more, measure, keep=BestRuns(2, "angle", largest=True), progress=interrupt, **given)
        assert study.tally is not None and study.tally.is_interrupted and sorted(study.table.runs) == [0, 1]


def test_lost_runs_of_items_that_failed_are_computed_again(tmp_path: Path) -> None:
    def picked(run: kinemorph.Trajectory) -> float:
        if run.q[0, 0] > 0.15:
            raise ValueError("the angle is too large")
        return 1.0

    store, space = tmp_path / "a.study", Space({"q.q1": Values([0.1, 0.2])})
    for keep, kept in (("failed", [1]), ("failed", [1]), ("all", [0, 1]), ("all", [0, 1])):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            study = sweep(kinemorph.library.pendulum(), space, picked, until=0.1, store=store, workers=0, keep=keep)
        assert sorted(study.table.runs) == kept and not study.store.lost_runs(study.table)
        for file in (tmp_path / "a.study.runs").iterdir():
            file.unlink()


def test_items_that_fail_are_named_with_their_causes() -> None:
    with pytest.warns(StudyWarning, match=r"2 of 4 items failed. Item 1: .*two is not liked"):
        study = sweep(picky, Space({"x": Values([1.0, 2.0, 3.0, 4.0])}), workers=0)
    assert [item.number for item in study.failed] == [1, 2]
    assert "'wrong'" in study.failed[1].cause and "nan" in study.failed[1].cause
    assert study.best("half")[0].number == 0
    with pytest.raises(UnsupportedError, match="several measures: 'half', 'wrong'"):
        study.best()


def uneven(x: float) -> dict[str, float]:
    return {"b": x} if x < 1.5 else {"c": x, "a": 2.0 * x}


@pytest.mark.parametrize("values", [[1.0, 2.0], [2.0, 1.0]])
def test_measures_have_one_order_whichever_result_arrives_first(values: list[float]) -> None:
    assert sweep(uneven, Space({"x": Values(values)}), workers=0).measures == ("a", "b", "c")
    named = sweep(uneven, Space({"x": Values([2.0])}), ["c", "a"], workers=0)
    assert named.measures == ("c", "a")


def test_the_best_of_items_that_all_failed_are_none() -> None:
    with pytest.warns(StudyWarning, match="1 of 1 item failed"):
        study = sweep(picky, Space({"x": Values([2.0])}), workers=0, keep=BestRuns(1, "half"))
    assert study.status == (1, 0, 1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_copy_of_the_process_does_not_write_to_the_store(tmp_path: Path) -> None:
    caller, said = os.getpid(), tmp_path / "said"

    def forked(x: float) -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of a fork with other threads
            child = os.fork() if x == 1.0 else -1
        if child > 0:
            os.waitpid(child, 0)
        return x

    try:
        study = sweep(forked, Space({"x": Values([1.0, 2.0])}), store=tmp_path / "a.study", workers=0)
    except BaseException as error:
        if os.getpid() == caller:
            raise
        said.write_text(str(error))
    finally:
        if os.getpid() != caller:
            os._exit(0)
    assert study.status.done == 2 and "was opened by another process" in said.read_text()


def test_results_of_another_kind_of_cpu_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = tmp_path / "a.study"
    monkeypatch.setattr(module, "cpu_text", lambda: "an old one")
    sweep(square, Space({"x": Values([1.0])}), store=store, workers=0)
    monkeypatch.setattr(module, "cpu_text", lambda: "a new one")
    with pytest.warns(StudyWarning, match=r"another kind of CPU \(an old one; here a new one\)"):
        sweep(square, Space({"x": Values([1.0, 2.0])}), store=store, workers=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load_study(store).status.done == 2


def test_a_study_says_what_it_does_not_have() -> None:
    study = sweep(square, Space({"x": Values([1.0, 2.0])}), workers=0, name="squares")
    with pytest.raises(UnsupportedError, match=r"study 'squares' has no item 2; expected 0 to 1"):
        study.item(2)
    with pytest.raises(UnsupportedError, match="neither a measure nor a part 'y'"):
        study["y"]
    with pytest.raises(UnsupportedError, match="space is 5; expected a Space"):
        sweep(square, 5, workers=0)  # type: ignore[arg-type]
