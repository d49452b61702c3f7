"""Pages with code are scripts: their Python blocks run from top to bottom, and print the output shown on the page.

A TOML block whose first line is a comment with a file name (`# arm.toml`) is written to that file beforehand; the page
runs in the folder that holds it.
"""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    ROOT / "docs" / f"{name}.md"
    for name in (
        "assemblies",
        "assembly_matrices",
        "programs",
        "derivatives",
        "export",
        "generator",
        "files",
        "model_file",
        "documents",
        "cagem",
        "control",
        "conventions",
        "notebook",
    )
]
# pages that take longest: large systems, several ways to close loops, searches for gaits and motions, many walks
LONG = (
    "amru5",
    "analysis",
    "ckc_template",
    "closed_chain_paper",
    "closed_loops",
    "cockroach",
    "contact",
    "controllers",
    "docking",
    "dynamics",
    "elements",
    "fmu",
    "formulations",
    "gaits",
    "hybrid",
    "identification",
    "identification_excitation",
    "identification_physical",
    "live",
    "modules",
    "motors_and_sensors",
    "optimal_gaits",
    "optimize",
    "orbits",
    "out_of_python",
    "positions",
    "quasicoordinates",
    "reports",
    "robots",
    "scale",
    "simulation",
    "studies",
    "tracking",
    "viewing",
    "wheels",
)
SLOW = [pytest.param(ROOT / "docs" / f"{name}.md", marks=pytest.mark.slow) for name in LONG]
FILE_NAME = re.compile(r"# (\S+\.toml)\n")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", [*PAGES, *SLOW], ids=lambda page: page.stem)
def test_page_runs_and_prints_what_it_says(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = page.read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": page.stem}
    printed, compared = "", 0
    for block in FENCE.finditer(text):
        language, body = block.groups()
        named = FILE_NAME.match(body)
        if language == "toml" and named:
            Path(named[1]).write_text(body, encoding="utf-8")
        elif language == "python":
            out = io.StringIO()
            line = text.count("\n", 0, block.start(2))
            with contextlib.redirect_stdout(out):  # blank lines ahead: a traceback names the line of the page
                exec(compile("\n" * line + body, str(page), "exec", dont_inherit=True), names)
            printed = out.getvalue()
        elif language == "text":
            assert _lines(printed) == _lines(body), f"{page.name}: the output on the page is not what the code prints"
            compared += 1
    assert compared > 3  # the blocks were found


LINKED = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "CHANGELOG.md"]
LINK = re.compile(r"\]\(([^)\s]+)\)")


def test_links_lead_to_files_and_headings_that_exist() -> None:
    broken = []
    for page in LINKED:
        for target in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
            path, _, anchor = target.partition("#")
            if path.startswith(("http://", "https://")):
                continue
            file = (page.parent / path).resolve() if path else page
            if not file.exists() or (anchor and anchor not in _anchors(file)):
                broken.append(f"{page.name}: {target}")
    assert not broken


def test_the_index_has_every_page() -> None:
    pages = {page.name for page in LINKED if page.parent.name == "docs"} - {"index.md"}
    assert not pages - {*LINK.findall((ROOT / "docs" / "index.md").read_text(encoding="utf-8"))}


def _anchors(page: Path) -> set[str]:
    """The anchors of a page, made from its headings by the rules of GitHub."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def _lines(text: str) -> list[str]:
    """The lines without trailing spaces; blank lines at the end are left out."""
    return [line.rstrip() for line in text.rstrip().splitlines()]
