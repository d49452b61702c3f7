"""The chapters of a report that are formulas (requirement 001-14): what they print, what they count, that it compiles.

`pytest --update-golden` writes the golden sources anew.
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import kinemorph
from kinemorph import Parameter, RobotBuilder
from kinemorph.codegen.building.compile import build as built
from kinemorph.deriving.position_programs import of_each_body, parent_names, relative_poses
from kinemorph.display.faces.document import Code, Document, Formula, Paragraph, Section, Table
from kinemorph.display.faces.languages.words import Words
from kinemorph.display.reports.chapters import chosen_chapters
from kinemorph.display.reports.printed_equations import WIDEST
from kinemorph.display.reports.subject import subject_of
from kinemorph.display.reports.writers import html, latex, typst
from kinemorph.display.reports.writers.formulas import display
from kinemorph.model.library import LIBRARY, SYSTEMS
from kinemorph.model.library.choosing import choose

KEYS = ("position_matrices", "velocities", "accelerations", "equations")
GOLDEN = Path(__file__).parent / "golden_formulas"


def sections(model: Any, language: str = "en") -> list[Section]:
    """The four chapters; a text without a translation is an error."""
    subject, words = subject_of(model), Words(language)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = [chapter(subject, words) for chapter in chosen_chapters(KEYS).values()]
    return [section for section in found if section is not None]


def document(model: Any, language: str = "en") -> Document:
    return Document("formulas", language, sections(model, language))


def formulas(found: list[Section]) -> list[Formula]:
    return [block for section in found for block in section.blocks if isinstance(block, Formula)]


# ── positions ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["four_bar", "puma", "crane"])
def test_poses_in_parents_multiply_to_poses_in_the_world(name: str) -> None:
    """Against `forward_kinematics`, which composes links and not bodies."""
    robot = choose(name).robot
    q = kinemorph.random_configuration(robot, np.random.default_rng(3))
    local = built(relative_poses(robot, ()), "interpreter")(q)
    world = kinemorph.derive(robot, backend="interpreter").forward_kinematics(q)
    bodies = robot.body_names
    for i, parent in enumerate(parent_names(robot)):
        base = np.eye(4) if parent == "world" else world[bodies.index(parent)]
        np.testing.assert_allclose(base @ local[i], world[i], atol=1e-12)


def test_programs_of_single_bodies_are_parts_of_the_whole() -> None:
    robot = choose("double_pendulum").robot
    dynamics = kinemorph.derive(robot, backend="interpreter")
    state = np.random.default_rng(4).normal(size=(3, robot.nv))
    motion = dynamics.motion
    whole = dict(zip((port.name for port in motion.program.outputs), motion(*state), strict=True))
    for name, programs in of_each_body(motion.program.traced).items():
        for i, program in enumerate(programs):
            part = built(program, "interpreter")(*state)
            np.testing.assert_allclose(np.ravel(part), np.ravel(whole[name][i]), atol=1e-14)


# ── what is printed ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("name", "language"), [("double_pendulum", "en"), ("four_bar", "fr")])
def test_sources_are_stable(name: str, language: str, request: pytest.FixtureRequest) -> None:
    words, made = Words(language), document(choose(name).robot, language)
    source = typst.source(made, words)["main.typ"].decode()
    written = {f"{name}_{language}.typ": source[source.index("#section(") :]}
    page = dict(html.files(made, Path("page.html"), words))[Path("page.html")].decode()
    written[f"{name}_{language}.html"] = "\n".join(re.findall(r"(?s)<section.*?</section>", page))
    for file, text in written.items():
        if request.config.getoption("--update-golden"):
            (GOLDEN / file).write_text(text)
        assert text == (GOLDEN / file).read_text()
    for math in re.findall(r"(?s)<math.*?</math>", page):
        ElementTree.fromstring(math)


def test_long_formulas_are_counted_and_the_command_writes_them() -> None:
    found = sections(choose("puma").robot)
    last = found[-1]
    (table,) = [block for block in last.blocks if isinstance(block, Table)]
    assert [row[0] for row in table.grid.rows] == [
        "mass matrix",
        "other generalized forces of the motion and of gravity",
    ]
    assert all(int(cell) > 10 for row in table.grid.rows for cell in row[1:])
    note = last.blocks[-1]
    assert isinstance(note, Paragraph)
    (command,) = [piece.text for piece in note.pieces if isinstance(piece, Code)]
    assert "derive model.toml --emit latex --function mass_matrix --function bias_forces" in command
    matrices = formulas(found[:1])
    assert len(matrices) == 6  # every body: in the world, or as a product
    assert all(row.width <= WIDEST for formula in formulas(found) for row in formula.content)  # type: ignore[union-attr]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hexapod24", "humanoid"])
def test_large_robots_have_short_chapters(name: str) -> None:
    words, made = Words("fr"), document(choose(name).robot, "fr")
    pages = typst.pdf(typst.source(made, words), "png", ppi=20)
    assert 1 < len(pages) <= 12


# ── hostile names ─────────────────────────────────────────────────────────────────────────────────────────────────────


def hostile() -> kinemorph.Robot:
    names = ('#read("x")', r"\input{x}", "<script>alert(1)</script>", "]]> */ $x$", "m" * 10_000)
    read, put, script, other, long = (Parameter(name, 1.0 + i, "kg") for i, name in enumerate(names))
    builder = RobotBuilder('#panic("x")')
    unit = np.eye(3)
    builder.body(names[0], read + put, com=(0.0, 0.0, -0.5), inertia=unit)
    builder.body(names[2], script + other + long, com=(0.0, 0.0, -0.5), inertia=unit)
    builder.joint(names[1], "revolute", "world", names[0], axis=(1.0, 0.0, 0.0))
    builder.joint(names[3], "revolute", names[0], names[2], axis=(1.0, 0.0, 0.0), translation=(0.0, 0.0, -1.0))
    return builder.build()


def test_hostile_names_stay_text_in_every_format() -> None:
    pytest.importorskip("typst")
    words, made = Words("en"), document(hostile())
    assert formulas(list(made.sections))
    assert typst.pdf(typst.source(made, words)).startswith(b"%PDF")  # #read would fail, #panic too
    page = dict(html.files(made, Path("page.html"), words))[Path("page.html")].decode()
    assert "<script>alert" not in page and "&lt;script&gt;alert" in page
    tex = b"".join(
        data for path, data in latex.files(made, Path("tex/main.tex"), words) if path.suffix == ".tex"
    ).decode()
    assert r"\input{x" not in tex and r"\textbackslash{}input\{x\}" in tex


@pytest.mark.slow
def test_a_browser_shows_every_formula_within_the_page(page: Any, tmp_path: Path) -> None:
    """Chromium lays out the MathML: each formula has a size, none is wider than its place, and nothing is logged."""
    words, made = Words("en"), document(choose("puma").robot)
    file = tmp_path / "page.html"
    file.write_bytes(dict(html.files(made, file, words))[file])
    page.goto(file.as_uri())
    boxes = page.evaluate(
        "[...document.querySelectorAll('.formula')].map(one => [one.scrollWidth, one.clientWidth, "
        "one.querySelector('math').getBoundingClientRect().height])"
    )
    assert len(boxes) == len(formulas(list(made.sections))) and not page.complaints
    assert all(inside <= room + 1 and height > 15 for inside, room, height in boxes)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(LIBRARY | SYSTEMS))
def test_every_model_of_the_library_fits_the_page(name: str) -> None:
    """In French, where a text without a translation is an error; every notation writes every formula."""
    words = Words("fr")
    for block in formulas(sections((LIBRARY | SYSTEMS)[name](), "fr")):
        assert all(row.width <= WIDEST for row in block.content)
        ElementTree.fromstring(display(block.content, "mathml", words))
        assert display(block.content, "typst", words).startswith("$")
        assert display(block.content, "latex", words).startswith(r"\begin{align*}")


def test_matrices_of_driven_joints_fit_in_one_piece_by_names_for_their_parts() -> None:
    """The pantographs of AMRU5 filled a page and a half entry by entry; their angles have names now."""
    subject, words = subject_of(kinemorph.library.amru5()), Words("en")
    (section,) = [chapter(subject, words) for chapter in chosen_chapters(["position_matrices"]).values()]
    assert section is not None
    found = {block.name: list(block.content) for block in section.blocks if isinstance(block, Formula)}
    shank = found["body 3, leg1_shank"]
    assert [row.name.text for row in shank] == ["T0_3", "x1", "T4_3"]
    assert all(len(rows) <= 4 for rows in found.values())


@pytest.mark.parametrize(("language", "others"), [("en", "all others"), ("fr", "tous les autres")])
def test_many_zeros_of_a_wide_matrix_are_not_named(language: str, others: str) -> None:
    """The names of the zeros in the mass matrix of a platform on six legs filled two pages."""
    builder = RobotBuilder("slides")
    for k in range(24):
        builder.body(f"b{k}", 1.0 + k).joint(f"j{k}", "prismatic", "world", f"b{k}", axis=(1.0, 0.0, 0.0))
    (mass, *_) = formulas(sections(builder.build(), language)[-1:])[1:]
    source = display(mass.content, "typst", Words(language))
    assert source.count("&=") == 25 and f'"{others}" &= 0' in source and "M_(1 comma 2)" not in source
