"""First steps of a newcomer, without a browser: an empty grid, files of other programs, a floor, a gait (000-27)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kinemorph import library, load, save
from kinemorph.errors import KinemorphError, UnsupportedError
from kinemorph.studio import session as session_module
from kinemorph.studio.documents.commands.command import CommandError
from kinemorph.studio.documents.document import Document
from kinemorph.studio.documents.new_files import EMPTY_GRID
from kinemorph.studio.session import Session
from kinemorph.studio.tasks.run_tasks import run
from kinemorph.studio.tasks.work import KEEPING, Report
from support.studio.noted_page import NotedPage, wait_for

SNAKE = "B>0 B>1 B>2 B>3"
CRAWLER = "B>5 .   .   .\nB>4 B>3 .   .\n.   B>0 Bv1 B<2\nB^7 B>6 .   .\nB>8 .   .   .\n"


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[NotedPage]:
    monkeypatch.setattr(session_module, "LIST_AGAIN", 0.05, raising=False)
    session = Session(tmp_path)
    yield NotedPage(session)
    session.stop()


def with_grid(grid: str, more: str = "") -> str:
    """The text of a model file with modules."""
    return EMPTY_GRID.replace("NAME", "robot").replace("'''\n'''", f"'''\n{grid.strip()}\n'''") + more


def read_state(page: NotedPage, name: str) -> dict[str, Any]:
    """The state of a document after its model was read."""
    page.ask("show", document=name)
    told = page.until(lambda one: one.get("push") == "document" and one["state"]["read_revision"] >= 0)
    state: dict[str, Any] = told["state"]
    return state


def test_an_empty_grid_is_an_invitation(page: NotedPage, tmp_path: Path) -> None:
    """FINDINGS S7: a model that has just been made has no mistake."""
    (tmp_path / "fresh.toml").write_text(EMPTY_GRID.replace("NAME", "fresh"))
    (finding,) = read_state(page, "fresh.toml")["findings"]
    assert finding["severity"] == "invitation" and finding["path"] == ["assembly", "grid"]
    told = f"{finding['problem']}. {finding['remedy']}"
    assert told == "The grid has no modules yet. Choose a kind in the panel Assemble and click a cell."


def test_a_grid_with_a_mistake_has_one(page: NotedPage, tmp_path: Path) -> None:
    (tmp_path / "wrong.toml").write_text(with_grid("B>0 x"))
    assert "error" in [one["severity"] for one in read_state(page, "wrong.toml")["findings"]]


def test_a_new_key_stands_above_the_comment_of_the_next_table(tmp_path: Path) -> None:
    """FINDINGS S8, for a table and for the keys before the first one; comments and layout stay."""
    text = "# a file\nkinemorph = 1\n\n# the first\n[bodies.a]\nmass = 1\n\n# the second\n[bodies.b]\nmass = 2\n"
    (tmp_path / "two.toml").write_text(text)
    document = Document(tmp_path / "two.toml")
    document.apply({"verb": "set", "path": "bodies.a.com", "value": [0, 0, 1]})
    document.apply({"verb": "set", "path": "name", "value": "two"})
    wanted = text.replace("mass = 1\n", "mass = 1\ncom = [0, 0, 1]\n")
    assert document.text == wanted.replace("kinemorph = 1\n", 'kinemorph = 1\nname = "two"\n')
    document.close()


def test_files_of_other_programs_are_listed_when_they_come(page: NotedPage, tmp_path: Path) -> None:
    """FINDINGS S10: another program writes a file beside the open ones; a long license may stand before its tag."""
    page.ask("hello")
    listed: set[str] = set()

    def are_listed(*names: str) -> bool:
        for one in list(page.messages):
            if one.get("push") == "project":
                listed.update(f"{row['name']} {row['format']}" for row in one["documents"])
        return listed.issuperset(names)

    (tmp_path / "arm.toml").write_text("kinemorph = 1\n")
    wait_for(lambda: page.session is not None and getattr(page.session, "_listed", [1]))
    (tmp_path / "a.urdf").write_text("<robot name='a'><link name='b'/></robot>")
    (tmp_path / "b.sdf").write_text("<sdf version='1.7'><model name='b'/></sdf>")
    (tmp_path / "c.xml").write_text(f"<!-- {'license ' * 1000} -->\n<mujoco model='c'/>")
    wait_for(lambda: are_listed("a.urdf urdf", "b.sdf sdf", "c.xml mjcf"), 5.0)


def test_a_robot_that_touches_nothing_is_put_on_the_floor(page: NotedPage, tmp_path: Path) -> None:
    """FINDINGS S6: the sentence, contacts at the ends of limbs and at the base, the lift, and one Undo."""
    save(library.hexapod24(), tmp_path / "hexapod.toml")
    before = (tmp_path / "hexapod.toml").read_text()
    read_state(page, "hexapod.toml")
    falls = "hexapod24 touches nothing, so it falls through the floor of the picture."
    assert page.ask("falls", document="hexapod.toml") == falls
    page.ask("put_on_floor", document="hexapod.toml")
    system = load(tmp_path / "hexapod.toml")
    assert {one.body for one in system.elements} == {"trunk", *(f"leg{k}_shank" for k in range(1, 7))}
    assert system.settings.q[2] == pytest.approx(0.04)
    assert page.session is not None and page.session.document("hexapod.toml").read().system is not None
    assert page.ask("falls", document="hexapod.toml") == ""
    page.ask("undo", document="hexapod.toml")
    assert (tmp_path / "hexapod.toml").read_text() == before


def test_a_robot_without_shapes_cannot_be_put_on_the_floor(page: NotedPage, tmp_path: Path) -> None:
    (tmp_path / "point.toml").write_text(
        'kinemorph = 1\n[bodies.a]\nmass = 1\ninertia = [1, 1, 1]\n[joints.root]\nkind = "free"\nparent = "world"\n'
        'child = "a"\n'
    )
    assert [one["severity"] for one in read_state(page, "point.toml")["findings"]] == []
    told = "'point' has no shapes that could touch the floor. Add solids to its bodies in the panel Model."
    with pytest.raises(UnsupportedError, match=told):
        page.ask("put_on_floor", document="point.toml")


def test_several_commands_are_one_edit_or_none(tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text("kinemorph = 1\n")
    document = Document(tmp_path / "two.toml")
    set_name, add = {"verb": "set", "path": "name", "value": "n"}, {"verb": "add", "path": "bodies.a", "value": {}}
    for commands, told in (
        ([set_name, {"verb": "unset", "path": "nothing"}], "the file has no 'nothing'"),
        ([{"verb": "set_text", "text": ""}], "'together' cannot have the verb 'set_text' in it. Apply it alone."),
        ("set", "commands is 'set', expected a list of commands. Give one."),
    ):
        with pytest.raises(CommandError, match=told):
            document.apply({"verb": "together", "label": "both", "commands": commands})
    document.apply({"verb": "together", "label": "both", "commands": [set_name, add]})
    assert document.history == ["both"] and document.data == {"kinemorph": 1, "name": "n", "bodies": {"a": {}}}
    document.undo()
    assert document.text == "kinemorph = 1\n"
    document.close()


@pytest.mark.parametrize(
    ("grid", "way"),
    [(SNAKE, 0.3), pytest.param(CRAWLER, 0.25, marks=pytest.mark.slow), pytest.param(
        " ".join(f"B>{k}" for k in range(9)), 0.3, marks=pytest.mark.slow)],
)  # fmt: skip
def test_an_organism_is_made_to_crawl(tmp_path: Path, grid: str, way: float) -> None:
    """FINDINGS S12: the file gets a gait, drives, the ground and a run, in which the organism travels; Undo works."""
    from kinemorph.display.charts.crawl_pictures import center_of_mass_path
    from kinemorph.studio.tasks.gait_tasks import choose_crawl

    (tmp_path / "robot.toml").write_text(with_grid(grid))
    document = Document(tmp_path / "robot.toml")
    found = choose_crawl({"text": document.text, "path": str(document.path)}, Report(0, lambda header, payload: None))
    document.apply(found["command"])
    system = load(tmp_path / "robot.toml")
    moved = system.run(found["run"])
    path = center_of_mass_path(system.robot, moved.q[[0, -1]])
    assert moved.t[-1] == found["seconds"] == 5.0
    assert ((path[1] - path[0])[:2] ** 2).sum() ** 0.5 == pytest.approx(found["way"], rel=1e-9)
    assert found["way"] > way
    assert {name for name, one in document.data["elements"].items() if one["kind"] == "pd"} >= {"drive"}
    document.apply(found["command"] | {"commands": [{"verb": "unset", "path": ["elements"]}]})
    document.undo()
    document.undo()
    assert document.text == with_grid(grid)
    document.close()


def test_gains_follow_the_mass_that_a_hinge_carries() -> None:
    """FINDINGS S12: three times the mass, three times the stiffness; the middle of a row carries more than its ends."""
    from kinemorph.formats.loading import load_text
    from kinemorph.studio.assembling.crawl_gait import WAVES, crawl_commands

    heavy = '\n[module_types.B]\nlike = "backbone"\nmass = 3\n'
    stiff = []
    for more in ("", heavy):
        assembly = load_text(with_grid(SNAKE, more), "toml").assembly
        assert assembly is not None
        commands = crawl_commands(assembly, WAVES[0], {})
        (drive,) = (one["value"] for one in commands if one.get("path") == ["elements", "drive"])
        stiff.append(drive["kp"])
    light, heavier = stiff
    assert light[0] == light[3] < light[1] == light[2]
    assert heavier == pytest.approx([3.0 * one for one in light], rel=0.05)


@pytest.mark.parametrize(
    ("grid", "more", "told"),
    [
        (SNAKE, 'root = "fixed"', "'robot' is fixed to the world, so it cannot crawl. Dock modules, with the root "),
        ("L>0 L>1", "", "none of the 8 gaits that were tried moves 'robot'; it needs two modules with level hinges"),
    ],
)  # fmt: skip
def test_why_modules_cannot_crawl(grid: str, more: str, told: str) -> None:
    from kinemorph.studio.tasks.gait_tasks import choose_crawl

    text = with_grid(grid).replace("\n# How", f"{more}\n\n# How")
    with pytest.raises(KinemorphError, match=told):
        choose_crawl({"text": text, "path": "/nowhere/robot.toml"}, Report(0, lambda header, payload: None))


def test_a_cancel_after_the_integration_keeps_the_run(tmp_path: Path) -> None:
    """FINDINGS S1: saving and checking are a phase of their own, which a cancel does not end; nothing is missing."""

    class Late(Report):
        def enter(self, phase: str) -> None:
            super().enter(phase)
            self.cancelled |= phase == KEEPING

    save(library.pendulum(), tmp_path / "swing.toml")
    report, path = Late(0, lambda header, payload: None), tmp_path / "swing.toml"
    plan = {"time": 0.5, "output_step": 0.01, "q": [1.0]}
    files = {"path": str(path), "folder": str(tmp_path), "save": str(tmp_path / "run.npz")}
    found = run({"text": path.read_text(), "plan": plan, **files}, report)
    assert report.phase == KEEPING and not report.cancelled and report.now()["spent"][KEEPING] > 0.0
    assert found["summary"]["samples"] == 51 and found["summary"]["outcome"]["kind"] == "finished"
    assert report.now()["doing"] == "adding up energies" and report.now()["fraction"] == 0.9


def test_a_cancel_in_the_integration_keeps_what_there_is(tmp_path: Path) -> None:
    """FINDINGS S1: also where it comes between two looks at whether the job is cancelled."""

    class Midway(Report):
        def __call__(self, doing: str, **more: Any) -> None:
            self.cancelled |= doing == "computing" and more["t"] > 0.0
            super().__call__(doing, **more)

    save(library.pendulum(), tmp_path / "swing.toml")
    report, path = Midway(0, lambda header, payload: None), tmp_path / "swing.toml"
    plan = {"time": 1e5, "output_step": 0.1, "q": [1.0], "rtol": 1e-12}
    files = {"path": str(path), "folder": str(tmp_path), "save": str(tmp_path / "run.npz")}
    found = run({"text": path.read_text(), "plan": plan, **files}, report)
    assert report.cancelled and found["summary"]["outcome"]["kind"] == "interrupted"
    assert found["summary"]["samples"] > 1
