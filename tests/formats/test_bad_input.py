"""Bad input: every file of the battery is answered, in time, with file, line and remedy; the page says what is true."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from kinemorph.formats.findings import RULES
from support.cases.bad_input import BYTES, FOLDER, SECONDS, STORED, answers, large

PAGE = Path(__file__).resolve().parents[2] / "docs" / "files.md"
CLEAN = ("ok.urdf", "ok.toml", "ok.sdf", "ok.xml", "chain1000.urdf", "chain3000.urdf")
LARGEST = ("chain10000.urdf", "huge_10k_links.urdf")  # 10,000 links each, which is the limit
PEERS: dict[str, dict[str, str]] = json.loads((FOLDER / "peers.json").read_text(encoding="utf-8"))
HEAD = ("input", "Pinocchio", "MuJoCo", "Kinemorph")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits of memory are those of POSIX")


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What is said about each file of the battery but the largest two."""
    pytest.importorskip("mujoco")
    folder = tmp_path_factory.mktemp("large")
    return answers([*STORED, *_made(folder, [name for name in large() if name not in LARGEST])])


def _made(folder: Path, names: list[str]) -> list[Path]:
    texts = large()
    for name in names:
        (folder / name).write_text(texts[name])
    return [folder / name for name in names]


@pytest.mark.slow
def test_ten_thousand_links_load(tmp_path: Path) -> None:
    for name, row in answers(_made(tmp_path, list(LARGEST))).items():
        assert row["loaded"] and row["findings"] == [], name
        assert row["seconds"] < SECONDS and row["memory"] < BYTES, name


def test_every_file_is_answered_within_time_and_memory(told: dict[str, Any]) -> None:
    for name, row in told.items():
        assert row["seconds"] < SECONDS, name
        assert row["memory"] < BYTES, name


def test_good_files_load_without_a_word(told: dict[str, Any]) -> None:
    assert {name: (told[name]["loaded"], told[name]["findings"]) for name in CLEAN} == dict.fromkeys(CLEAN, (True, []))


def test_all_others_are_refused_or_load_with_a_warning_that_has_a_name(told: dict[str, Any]) -> None:
    for name, row in told.items():
        if name in CLEAN:
            continue
        assert row["findings"], name
        assert row["loaded"] == all(finding["severity"] == "warning" for finding in row["findings"]), name


def test_every_finding_has_file_line_reason_and_remedy(told: dict[str, Any]) -> None:
    for name, row in told.items():
        for finding in row["findings"]:
            assert finding["file"].endswith(name)
            assert finding["line"] > 0, finding["text"]
            assert f"{name}:{finding['line']}: " in finding["text"]
            assert finding["rule"] in RULES and finding["text"].endswith(f"[{finding['rule']}]")
            assert finding["problem"] and not finding["problem"].endswith(".")
            assert finding["remedy"].endswith((".", "?"))
            assert len(finding["text"]) < 700 + len(finding["file"])
            assert "Traceback" not in finding["text"]


# ── the page ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_table_of_the_page_is_what_the_code_says(told: dict[str, Any], request: pytest.FixtureRequest) -> None:
    rows = [HEAD, ("---",) * 4]
    told = {**told, **{name: {"loaded": True, "findings": []} for name in LARGEST}}
    for name in sorted(told):
        peers = PEERS.get(name.removesuffix(".urdf").replace("two_parents_loop", "two_parents(loop)"), {})
        rows.append((f"`{name}`", _peer(peers.get("pinocchio")), _peer(peers.get("mujoco")), _answer(told[name])))
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    table = table.replace("| --- | --- | --- | --- |", "|---|---|---|---|")
    text = PAGE.read_text(encoding="utf-8")
    start, end = text.index("| input |"), text.index("<!-- end of bad input -->")
    if request.config.getoption("--update-golden"):
        PAGE.write_text(text[:start] + table + "\n\n" + text[end:], encoding="utf-8")
        return
    assert text[start:end].strip() == table, "run this test with --update-golden and read what has changed"


def _peer(measured: str | None) -> str:
    if not measured:
        return "-"
    if not measured.startswith("LOADED"):
        return "refused"
    return "loads" if "finite_acc=True" in measured else "**loads, accelerations not finite**"


def _answer(row: dict[str, Any]) -> str:
    """`refused: ...` or `loads`, with the first finding."""
    verdict = "loads" if row["loaded"] else "refused"
    if not row["findings"]:
        return verdict
    first = row["findings"][0]
    element = f"{first['element']}: " if first["element"] else ""
    sentence = f"{element}{first['problem']}".replace("|", "\\|").replace("<", "&lt;")
    rest = f"; and {len(row['findings']) - 1} more" if len(row["findings"]) > 1 else ""
    return f"{verdict}, `{first['rule']}`: {sentence}{rest}"
