"""What notebooks show: cards that are well-formed, complete, escaped, small, and cost only what was asked for."""

from __future__ import annotations

import base64
import gc
import io
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lxml import etree

import kinemorph
from kinemorph import Body, RobotBuilder, System, elements
from kinemorph.analysis.verification.verdict import Check, Verification
from kinemorph.display import html as cards
from kinemorph.display.faces import thumbnails
from kinemorph.display.faces.terminal import text_of
from kinemorph.display.html import MOST_ROWS, duration, escaped, sparkline, table
from kinemorph.display.notebooks import model_cards
from kinemorph.model.robot import Robot
from kinemorph.simulation.results.trajectory import Outcome, Trajectory

HOSTILE = '<img src=x onerror="alert(1)">&\'"</div></table>'


def parsed(html: str | None) -> Any:
    """A card as a tree, read by a parser that forgives nothing; nothing in it comes from outside or runs."""
    assert html is not None
    root = etree.fromstring(html, etree.XMLParser(recover=False))
    for node in root.iter():
        assert node.tag in ALLOWED, node.tag
        for name, value in node.attrib.items():
            assert not name.startswith("on"), name
            assert name != "src" or value.startswith("data:image/png;base64,")
            assert name != "href" or value.startswith("#")
            assert "url(" not in value
    return root


ALLOWED = set(
    [
        "div",
        "span",
        "b",
        "img",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "details",
        "summary",
        "svg",
        "g",
        "defs",
        "use",
        "path",
        "polyline",
    ]
)


def words(html: str | None) -> str:
    """The texts of a card."""
    return " ".join(" ".join(parsed(html).itertext()).split())


def picture(html: str | None) -> Any:
    """The picture of a card, in RGB."""
    from PIL import Image

    (image,) = parsed(html).iter("img")
    data = base64.b64decode(image.get("src").partition(",")[2])
    assert len(data) < 40_000
    shown = Image.open(io.BytesIO(data))
    assert shown.width == pytest.approx(2 * int(image.get("width")), abs=1)  # crisp on fine screens
    return np.asarray(shown.convert("RGB"))


def chain(count: int, name: str = "chain", link: str = "link") -> Robot:
    """So many rods in a row; a rod alone is one that swings."""
    builder, parent = RobotBuilder(name), "world"
    for k in range(count):
        builder.add(Body.rod(f"{link}{k}", 1.0, 0.2, center=(0.0, 0.0, -0.1)))
        at = (0.0, 0.0, -0.2 if k else 0.0)
        builder.joint(f"{link}{k}_joint", "revolute", parent, f"{link}{k}", axis=(0.0, -1.0, 0.0), translation=at)
        parent = f"{link}{k}"
    return builder.build()


@pytest.fixture(scope="module")
def pendulum() -> Robot:
    return kinemorph.library.double_pendulum()


@pytest.fixture(scope="module")
def run(pendulum: Robot) -> Trajectory:
    return kinemorph.simulate(pendulum, 1.0, q=[1.0, 0.5])


@pytest.fixture(scope="module")
def sprung() -> Trajectory:
    """A run of a rod on a spring, with names that a page must not take for its own."""
    spring = elements.TorsionSpring(HOSTILE, f"{HOSTILE}0_joint", stiffness=40.0)
    return kinemorph.simulate(System(chain(1, HOSTILE, HOSTILE), spring), 0.02, q=[0.5])


# ── robots and systems ────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_robot_shows_its_picture_and_tables() -> None:
    html = kinemorph.library.build("hexapod36")._repr_html_()
    said = words(html)
    for part in ("hexapod36", "degrees of freedom 36", "bodies 31", "17.6 kg", "trunk_root", "free", "foot1 leg1_foot"):
        assert part in said
    assert "q[0:7] x y z [m], qw qx qy qz" in said  # where the coordinates are, and their units
    assert "−1.6 to 1.6 rad" in said and "19 more rows are not listed." in said
    assert float((picture(html) < 230).any(axis=2).mean()) > 0.05  # something is drawn
    assert len(html) < 65_000


def test_loops_couplings_and_parameters_are_told(pendulum: Robot) -> None:
    looped = words(kinemorph.library.build("four_bar")._repr_html_())
    assert "closure revolute coupler rocker" in looped and "The last joint of this table closes a loop" in looped
    said = words(pendulum._repr_html_())
    assert "m1 1.1 kg" in said and "g 9.81 m/s²" in said
    assert "limits" not in said  # a column of nothing is left out


def test_a_limit_on_one_side_is_shown() -> None:
    builder = RobotBuilder("door").add(Body.rod("leaf", 1.0, 1.0, center=(0.5, 0.0, 0.0), axis="x"))
    robot = builder.joint("hinge", "revolute", "world", "leaf", lower=-0.5).build()
    assert "at least −0.5 rad" in words(robot._repr_html_())


def test_a_system_lists_its_elements_with_their_numbers(pendulum: Robot) -> None:
    spring = elements.TorsionSpring("hip spring", "q1", stiffness=40.0)
    system = System(pendulum, spring)
    said = words(system._repr_html_())
    assert "hip spring torsion spring q1" in said and "stiffness 40 N m/rad" in said
    assert picture(system._repr_html_()).size
    assert words(System(pendulum)._repr_html_()).startswith("Robot")  # without elements it is one


def test_long_tables_are_cut_and_say_by_how_much() -> None:
    html = chain(200)._repr_html_()
    said = words(html)
    assert (
        "link11_joint" in said and "link12_joint" not in said and f"{200 - MOST_ROWS} more rows are not listed." in said
    )
    assert picture(html).size and len(html) < 40_000


def test_hostile_names_are_text(sprung: Trajectory) -> None:
    plant = sprung.segments[0].plant
    robot = plant.robot
    assert robot is not None
    system, dynamics = System(robot, plant.elements), kinemorph.derive(robot)
    failed = replace(sprung, outcome=Outcome("failed", 0.01, f"{HOSTILE} is too stiff."))
    dynamics = kinemorph.derive(robot)
    for shown in (robot, system, dynamics, plant, sprung, failed):
        html = shown._repr_html_()
        assert "<img src=x" not in html and "</div></table>" not in html.replace("</tbody></table>", "")
        assert HOSTILE[:20] in words(html)
    assert HOSTILE in words(failed._repr_html_())


def test_texts_that_are_long_are_cut_and_kept_for_the_pointer() -> None:
    assert escaped("abc", 3) == "abc"
    cut = escaped("<" * 10, 5)
    assert cut == f'<span title="{"&lt;" * 10}">{"&lt;" * 4}…</span>'


def test_a_robot_without_bodies_has_a_card() -> None:
    said = words(Robot("nothing", (), ())._repr_html_())
    assert "degrees of freedom 0" in said and "There is no body to draw." in said


def test_a_picture_that_fails_leaves_the_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("out of ink")

    monkeypatch.setattr(thumbnails, "draw", broken)
    html = chain(2)._repr_html_()
    assert "No picture: out of ink" in words(html) and "link1_joint" in words(html) and "<img" not in html


def test_pictures_are_drawn_once_and_forgotten_with_their_object(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    really = thumbnails.draw
    monkeypatch.setattr(thumbnails, "draw", lambda *given, **named: drawn.append(1) or really(*given, **named))
    robot = chain(3)
    gc.collect()
    before = len(thumbnails._PICTURES)
    assert robot._repr_html_() == robot._repr_html_() and len(drawn) == 1
    kinemorph.derive(robot)._repr_html_()
    assert len(drawn) == 1 and len(thumbnails._PICTURES) == before + 1
    del robot
    gc.collect()
    assert len(thumbnails._PICTURES) == before


def test_long_thin_robots_are_seen_from_end_to_end_and_very_long_ones_are_not_drawn_unasked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    painted = (picture(chain(200)._repr_html_()) < 200).any(axis=2)
    assert painted.any(axis=1).mean() > 0.9 and 0.001 < painted.mean() < 0.7
    monkeypatch.setattr(thumbnails, "draw", lambda *_, **__: pytest.fail("drawn"))
    monkeypatch.setattr(thumbnails, "MOST_BODIES", 5)
    assert "6 bodies are too many" in words(chain(6)._repr_html_())


# ── dynamics ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_looking_at_dynamics_makes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    dynamics = kinemorph.derive(kinemorph.library.build("hexapod36"))
    monkeypatch.setattr("kinemorph.deriving.making.trace", lambda *_, **__: pytest.fail("traced"))
    monkeypatch.setattr("kinemorph.deriving.making.build", lambda *_, **__: pytest.fail("compiled"))
    said = words(dynamics._repr_html_())
    assert "No function has been used yet" in said and "mass_matrix" in said and "jacobian(frame)" in said
    assert model_cards.made_functions(dynamics) == {} and dynamics._repr_latex_() is None


def test_dynamics_list_what_was_made(pendulum: Robot) -> None:
    dynamics = kinemorph.derive(pendulum)
    ops, flops = dynamics.mass_matrix.ops, dynamics.mass_matrix.program.flops
    dynamics.jacobian("tip")
    said = words(dynamics._repr_html_())
    assert f"mass_matrix q 2 out 2×2 {ops} {flops}" in said and "jacobian[tip, local] q 2 out 6×2" in said
    made, rest = said.split("made when first used")
    assert "mass_matrix" not in rest and "forward_dynamics" in rest and "forward_dynamics" not in made


def test_counts_need_no_tracing(pendulum: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    kinemorph.derive(pendulum).mass_matrix  # noqa: B018  kept on disk from now on
    dynamics = kinemorph.derive(pendulum)
    function = dynamics.mass_matrix
    monkeypatch.setattr("kinemorph.deriving.making.trace", lambda *_, **__: pytest.fail("traced"))
    monkeypatch.setattr(model_cards, "small_equations", lambda _: None)
    assert f"{function.ops} {function.flops}" in words(dynamics._repr_html_())
    monkeypatch.undo()
    assert function.flops == function.program.flops


def test_small_robots_show_their_equations(pendulum: Robot) -> None:
    dynamics = kinemorph.derive(pendulum)
    latex = dynamics._repr_latex_()
    assert latex is not None and latex.startswith("$$") and latex.endswith("$$") and r"\ddot{q}_{1}" in latex
    root = parsed(dynamics._repr_html_())
    (drawing,) = [node for node in root.iter("svg") if node.get("role") == "img"]
    assert "tau1 =" in drawing.get("aria-label")
    defined = {node.get("id") for node in drawing.iter("path") if node.get("id")}
    used = {node.get("href")[1:] for node in drawing.iter("use")}
    assert used == defined and len(used) > 15
    assert len(etree.tostring(drawing)) < 40_000


def test_equations_have_a_bound_on_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    puma = kinemorph.library.build("puma")
    with monkeypatch.context() as patched:
        patched.setattr(model_cards, "equations_of_motion", lambda *_: pytest.fail("derived"))
        assert kinemorph.derive(puma)._repr_latex_() is None  # too many degrees of freedom
        assert kinemorph.derive(kinemorph.library.build("four_bar"))._repr_latex_() is None  # a loop
    monkeypatch.setattr(
        "kinemorph.display.equations.equations_of_motion.readable_equations", lambda *_: pytest.fail("written")
    )
    monkeypatch.setattr(model_cards, "MOST_TRACED", 10)
    assert kinemorph.derive(chain(2))._repr_latex_() is None  # too many operations to write them as equations


def test_long_equations_are_not_set_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    written = kinemorph.equations_of_motion(kinemorph.library.build("puma"), parameters=None)
    assert repr(written) == "<WrittenEquations of 'puma': 6 expressions; .text, .latex, .typst, .mathml, .legend>"
    monkeypatch.setattr(
        "kinemorph.display.equations.equations_of_motion.readable_equations", lambda *_: pytest.fail("written")
    )
    monkeypatch.setattr("kinemorph.display.equations.equations_of_motion.MOST_TRACED", 100)
    assert written._repr_latex_() is None  # "" would be shown, as nothing


def test_a_plant_names_its_states(pendulum: Robot) -> None:
    said = words(kinemorph.plants.plant(pendulum)._repr_html_())
    assert "configuration 2 q1 [rad], q2 [rad]" in said
    equations = kinemorph.plants.first_order(lambda x: [-x[0]], {"level": "m"}, start=[1.0])
    assert "further states 1 level [m]" in words(equations._repr_html_())


# ── runs ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_run_shows_poses_curves_and_energies(run: Trajectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kinemorph.simulation.results.derived_columns.build", lambda *_: pytest.fail("compiled"))
    html = run._repr_html_()
    monkeypatch.undo()
    said = words(html)
    assert "finished at t = 1 s" in said and "samples 101" in said and run.statistics.method in said
    total = run.energy.kinetic + run.energy.potential
    row = re.search(r"kinetic \+ potential (\S+) (\S+)", said)
    assert row and [cards.number(total[0], 5), cards.number(total[-1], 5)] == list(row.groups())
    assert len(list(parsed(html).iter("polyline"))) == 2
    assert picture(html).size


def test_energies_of_elements_are_in_the_potential(sprung: Trajectory) -> None:
    row = re.search(r"potential (\S+) (\S+)", words(sprung._repr_html_()))
    assert row and [cards.number(sprung.energy.potential[k], 5) for k in (0, -1)] == list(row.groups())
    assert sprung.energy.potential[0] > 0.0  # gravity alone is below


def test_a_failed_run_says_so_in_red() -> None:
    failed = kinemorph.simulate(kinemorph.plants.first_order(lambda x: [x[0] * x[0]], {"x": "m"}, start=[1.0]), 2.0)
    assert not failed.outcome.ok
    root = parsed(failed._repr_html_())
    red = [node for node in root.iter("div") if cards.TONES["bad"] in node.get("style", "")]
    assert len(red) == 1 and failed.outcome.message in "".join(red[0].itertext())
    assert not list(root.iter("img"))
    assert len(list(root.iter("polyline"))) == 1  # its state


def test_a_run_from_a_file_without_a_robot_has_a_card(run: Trajectory, tmp_path: Path) -> None:
    read = kinemorph.load_trajectory(run.save(tmp_path / "run.csv"))
    html = read._repr_html_()
    assert "has no robot" in words(html) and "<img" not in html and "samples 101" in words(html)
    kept = kinemorph.load_trajectory(run.save(tmp_path / "run.npz"))  # with its model
    assert "<img" in kept._repr_html_() and "samples 101" in words(kept._repr_html_())


def test_events_are_listed_counted_and_marked() -> None:
    swing = kinemorph.plants.first_order(lambda x: [x[1], -x[0]], {"angle": "rad", "rate": "rad/s"}, start=[1.0, 0.0])
    swung = kinemorph.simulate(swing, 42.0, events=[kinemorph.Guard("middle", lambda x: x[0])])
    assert len(swung.events) == 13
    html = swung._repr_html_()
    assert cards.number(math.pi / 2, 9) in words(html)
    count = "In all: middle 13 times, 1.571 to 39.27 s."
    assert f"{count} 1 more row is not listed." in words(html)
    told = text_of(swung.sheet())
    assert count in told and told.count("crossing") == 12
    marks = [node.get("d") for node in parsed(html).iter("path")]
    assert len(marks) == 2 and marks[0].count("M") == 13  # one row for each state


def test_small_curves_keep_every_peak() -> None:
    t = np.linspace(0.0, 1.0, 100_000)
    values = np.zeros_like(t)
    values[54_321] = 7.0
    values[99_000] = math.nan
    points = re.search(r'points="([^"]+)"', sparkline(t, values))
    assert points and len(points[1]) < 2_500
    heights = [float(point.split(",")[1]) for point in points[1].split()]
    assert min(heights) == 2.0 and max(heights) == cards.SPARK[1] - 2.0  # the peak reaches the top
    assert sparkline(t[:1], values[:1]) and sparkline(t[:1], np.array([math.nan])) == ""


def test_tables_of_nothing_are_nothing() -> None:
    assert table("title", ("a",), []) == ""


# ── verdicts ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_verdicts_have_cards(run: Trajectory) -> None:
    passed = Check("mass matrix symmetric", "M(q) equals its transpose.", "passed", 1e-16, 1e-13)
    failed = Check("inverse dynamics", "ID(q, v, a) = M a + h.", "failed", 1e-3, 1e-13, "seen at state 2")
    verdict = Verification("arm", "newton_euler", "llvm", 8, 0, (*[passed] * 20, failed))
    said = words(verdict._repr_html_())
    assert "20 passed, 1 failed, 0 skipped, of 21 checks." in said and "9 more rows are not listed." in said
    assert (
        "inverse dynamics failed 1.0·10⁻³ 1·10⁻¹³ ID(q, v, a) = M a + h." in said
    )  # what failed is among the few rows
    assert "inverse dynamics: seen at state 2." in said
    assert "1 passed, 0 failed" in words(replace(verdict, checks=(passed,))._repr_html_())
    assert "energy balance" in words(kinemorph.audit(run)._repr_html_())


def test_poles_and_equilibria_have_cards() -> None:
    plant = kinemorph.plants.plant(kinemorph.library.build("pendulum"))
    poles = kinemorph.poles(plant)
    assert cards.number(poles.omega[0]) in words(poles._repr_html_()) and "unstable" not in words(poles._repr_html_())
    assert "1 of 2 poles grows: unstable" in words(kinemorph.poles(plant, q=[math.pi])._repr_html_())
    found = kinemorph.equilibrium(plant, q=[0.1])
    assert "stable" in words(found._repr_html_()) and picture(found._repr_html_()).size


def test_assemblies_and_kinds_of_modules_have_cards() -> None:
    organism = kinemorph.modules.assemble("B>0 Sv1\n.   B^2", name="three <b>")
    html = organism._repr_html_()
    assert html.count("data:image/png") == 1 and "three <b>" not in html
    said = words(html)
    assert "modules 3" in said and "dockings 2" in said and "base module m0" in said
    assert "2 B (Backbone), 1 S (Scout)" in said
    html = kinemorph.modules.scout()._repr_html_()
    assert html.count("data:image/png") == 1
    assert "letter S" in words(html) and "dock revolute front plate" in words(html)


def test_times_have_units_that_suit_them() -> None:
    """The card of a function said "compiled in 1.97e+03 ms"."""
    assert (duration(1.97), duration(0.0123), duration(40.0)) == ("1.97 s", "12.3 ms", "40 s")
