"""Curves of large robots, tolerances of runs and rates near the initial state, as reports show them."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import kinemorph
from kinemorph.analysis.audit import method_tolerance
from kinemorph.analysis.signature import RATES, signature
from kinemorph.display import series
from kinemorph.display.canvas import in_language
from kinemorph.display.charts.event_marks import event_label
from kinemorph.display.charts.plot import plot_panels
from kinemorph.display.faces.document import Figure, Paragraph
from kinemorph.display.faces.languages.french import FRENCH
from kinemorph.display.faces.languages.sentences import translated
from kinemorph.display.faces.languages.words import Words
from kinemorph.display.reports.chapters import curves
from kinemorph.display.reports.chapters.poles import chapter
from kinemorph.display.reports.joint_loads import with_joint_loads
from kinemorph.display.reports.subject import ReportSettings, subject_of
from kinemorph.errors import LanguageWarning
from kinemorph.plants.robot_plant import plant as plant_of
from kinemorph.simulation.files.storage import load_trajectory
from kinemorph.simulation.results.event import Event
from kinemorph.simulation.stepping import failures


@pytest.fixture(scope="module")
def walk() -> kinemorph.Trajectory:
    return kinemorph.simulate(kinemorph.library.amru5_walk(), 0.02, output_step=0.005)


def test_panels_have_few_lines_of_like_sizes_and_every_name(walk: kinemorph.Trajectory) -> None:
    """R4: rotors of 1000 rad are not beside angles of 0.01 rad, and all 66 coordinates have a name in a legend."""
    names = [name for name in walk.columns if name.startswith("q.")]
    blocks = series.panel_blocks(walk, names)
    assert sorted(name for block in blocks for name in block.names) == sorted(names) and len(names) == 66
    for family in (family for block in blocks for family in block.families):
        sizes = [float(np.abs(walk[name]).max()) for name in family.names]
        assert len(sizes) <= series.PANEL and max(sizes) <= series.APART * min(sizes) + 1e-300
    legends = {
        text.get_text()
        for page in plot_panels(walk, names)
        for axes in page.axes
        if axes.get_legend()
        for text in axes.get_legend().get_texts()
    }
    assert {"leg1_rotor2.rz", "leg6_short.ry", "q23"} <= legends


def test_outputs_of_a_loaded_run_keep_their_names(tmp_path: Path) -> None:
    """A run with outputs beside those of its model gets them back by their names."""
    robot = kinemorph.library.double_pendulum()
    system = kinemorph.System(robot, (kinemorph.elements.Spring("spring", "link1", "link2", 10.0),))
    plant = plant_of(system, outputs={"double": lambda q: 2.0 * q[0]})
    run = kinemorph.simulate(plant, 0.1, q=[0.5, 0.2], output_step=0.05)
    back = load_trajectory(run.save(tmp_path / "run.npz"), system)
    assert "double" in back and list(back.columns) == list(run.columns)
    assert all(np.array_equal(back[name], run[name]) for name in run.columns if name != "energy.balance")


def test_rates_of_a_walker_are_computed_within_the_domains_of_its_formulas() -> None:
    """R2: the pantographs of AMRU5 have acos, whose domain random states 0.1 rad away leave."""
    from kinemorph.analysis.signature import _plant_rows

    (row,) = _plant_rows(kinemorph.library.amru5_walk(), 0)
    assert row.check.name == RATES and row.check.passed and np.isfinite(row.numbers).all() and callable(signature)


def test_a_run_is_judged_by_the_tolerance_of_its_method() -> None:
    """R3: errors of rtol in every step add up, and fixed steps are judged by the order of the method."""
    robot, start = kinemorph.library.double_pendulum(), {"q": [1.0, 0.5]}
    loose = kinemorph.simulate(robot, 3.0, rtol=1e-5, atol=1e-7, **start)
    tolerance, why = method_tolerance(loose)
    assert tolerance == pytest.approx(1e-5 * loose.statistics.accepted)
    assert why.startswith("Energy and momentum are judged by a relative tolerance of ") and "rtol 1e-05 in each" in why
    found = kinemorph.audit(loose)
    assert found and found["energy balance"].worst > 1e-6 and found.basis == why
    assert not kinemorph.audit(loose, tolerance=1e-6)
    coarse = kinemorph.simulate(robot, 3.0, method="euler", step=0.05, **start)
    assert not kinemorph.audit(coarse) and method_tolerance(coarse)[0] == 1e-2
    assert translated(Words("fr"), why) != why


def test_messages_of_failures_have_french_texts() -> None:
    """R1: each sentence of the messages about steps that fail is translated; others are quoted as a whole."""
    plant, words = plant_of(kinemorph.library.pendulum()), Words("fr")
    for message in (
        failures.diverges(plant, 1.5, "v 'q1'", 2e6, "rad/s", None),
        failures.diverges(plant, 1.5, "v 'q1'", 2e6, "m/s", 0.1),
        failures.rate_not_finite(1.5, "v 'q1'"),
        failures.not_finite(plant, 1.5, "q 'q1'", 0.1),
        failures.unsolved(plant, 1.5, "x 'q1'", "radau"),
        failures.grows(1.5, "v 'q1'", 1e7),
        failures.too_short(1.5, "v 'q1'", "dop853", 1e-12),
    ):
        found = translated(words, message)
        assert found is not None and "At t" not in found, message
    assert translated(words, "At t = 1 s something new happened.") is None


def test_panels_beside_others_say_their_power_of_ten(walk: kinemorph.Trajectory) -> None:
    """An axis without a label has the factor of its numbers above it, in place of none at all."""
    small = [axes for page in plot_panels(walk, ["q.q0", "q.q3", "q.q4", "q.q5"]) for axes in page.axes]
    factored = [axes for axes in small if "10⁻" in axes.get_ylabel() + "".join(one.get_text() for one in axes.texts)]
    tiny = [axes for axes in small if 0.0 < max(map(abs, axes.get_ylim())) < 1e-3]
    assert tiny and all(axes in factored for axes in tiny)


def test_a_linkage_that_is_moved_has_loads_in_its_closing_joint_and_no_poles() -> None:
    """Bearing loads of joints that close loops are curves, too; a motion that is prescribed has no poles."""
    bar = kinemorph.library.four_bar()
    run = kinemorph.simulate(bar, 0.1, q={"q1": 0.6})
    loaded = with_joint_loads(run)
    closing = bar.loops[0].name
    force = np.linalg.norm(run.reactions(closing, part="constraint")[:, :3], axis=1)
    assert np.array_equal(loaded[f"{closing}.bearing_force"], force) and force.max() > 0.0
    moved = kinemorph.System(bar, (kinemorph.elements.PrescribedMotion("drive", "q1", "0.6 + 2*t"),))
    assert chapter(subject_of(moved), Words("en")) is None


def test_code_in_french_sentences_keeps_its_decimal_point() -> None:
    message = failures.diverges(plant_of(kinemorph.library.pendulum()), 1.5, "v 'q1'", 2e6, "rad/s", 0.1)
    found = translated(Words("fr"), message)
    assert found is not None and "step=0." in found and "1,5 s" in found


def test_no_panel_is_alone_in_a_row_beside_rows_of_two(walk: kinemorph.Trajectory) -> None:
    """Panels of one unit have one width: an odd number of them is made even, or each has a row of its own."""
    counts = []
    for columns in ("q.*", "v.*", "motor*.current", "motor*.voltage"):
        names = [column.name for column in series.chosen(walk, [columns])]
        for block in series.panel_blocks(walk, names):
            pages = plot_panels(walk, block.names)
            widths = [axes.get_position().width for page in pages for axes in page.axes]
            assert max(widths) < 1.5 * min(widths), block.names
            counts.append(len(block.families))
    assert max(counts) > 3


@pytest.mark.parametrize(("language", "front"), [("en", "Zero throughout, to rounding: "), ("fr", "Nulles tout du")])
def test_curves_that_are_zero_are_one_sentence_that_names_them(
    walk: kinemorph.Trajectory, language: str, front: str
) -> None:
    """AMRU5 walks straight up at first: its base has no motion along x and y, which also a wish does not draw."""
    words = Words(language)
    subject = subject_of(walk, settings=ReportSettings(columns=("q.q0", "foot1.normal")))
    section = curves.chapter(subject, words)
    assert section is not None
    told = [block.text for block in section.blocks if isinstance(block, Paragraph) and isinstance(block.text, str)]
    (zero,) = [text for text in told if text.startswith(front)]
    assert "q.q0, q.q1" in zero and "q.q2" not in zero and zero.count("q.q0") == 1
    caption = words(curves.CAPTIONS["asked"])
    wished = [block for block in section.blocks if isinstance(block, Figure) and block.caption == caption]
    assert [axes.get_ylabel() for block in wished for axes in block.picture.axes] == ["foot1.normal [N]"]


def test_words_of_the_program_on_axes_are_french_and_names_of_the_user_stay(walk: kinemorph.Trajectory) -> None:
    def labels(*columns: str) -> set[str]:
        with in_language(Words("fr")), warnings.catch_warnings():
            warnings.simplefilter("error", LanguageWarning)
            pages = plot_panels(walk, [column.name for column in series.chosen(walk, columns)])
        return {re.sub(r"10\S+ ", "", axes.get_ylabel()) for page in pages for axes in page.axes} - {""}

    assert labels("motor*.current") == {"courant [A]"} and labels("motor*.voltage") == {"tension [V]"}
    assert labels("foot*.normal") == {"force normale [N]"}
    assert labels("reaction.q1.f*", "position.foot1.*") == {"réaction [N]", "position [m]"}
    assert labels("motor1_vertical.current") == {"motor1_vertical.current [A]"}
    assert set(series.SPOKEN) <= set(FRENCH)
    with in_language(Words("fr")):
        landing = Event(0.5, "ground", "impact", {}, {})
        assert event_label(landing) == "ground\N{NO-BREAK SPACE}: choc"
