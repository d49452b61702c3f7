"""Whatever the bytes: errors with text, or a system with finite numbers; no traceback, no hang."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from fuzzing.judging import Broken, hunt, verdict
from fuzzing.mutations import BESIDE, ENDINGS, SEEDS, corpus, mutant

# how many mutants of each format: in the default run 1,000 in all, in the slow one as many times more as MANY says
SHARES = {"urdf": 200, "sdf": 200, "toml": 120, "dh": 150, "sidecar": 150, "mupad": 40, "maxima": 40, "srdf": 50}
SHARES |= {"mjcf": 50} if find_spec("mujoco") else {}  # each of these takes a process
SHARES |= {"xacro": 8} if find_spec("xacro") else {}
MANY = {"sdf": 200, "srdf": 400, "mjcf": 400, "xacro": 2500}  # 100,000 of these formats; 100 times of the others
PIECES = 10


@pytest.mark.parametrize("format", SHARES)
def test_seeds_load(format: str, tmp_path: Path) -> None:
    """The corpus itself is sound, so that mutants reach deep."""
    for number, data in enumerate(corpus(format)):
        path = tmp_path / f"seed{number}{ENDINGS[format]}"
        path.write_bytes(data)
        if format in BESIDE:
            path = tmp_path / f"seed{number}.urdf"
            path.write_bytes((SEEDS / "arm.urdf").read_bytes())
        missing = b"more.xml" in data  # it names files that are not there
        assert verdict(path) == ("refused" if missing else "loaded"), path


@pytest.mark.parametrize("format", SHARES)
def test_mutants(format: str, tmp_path: Path) -> None:
    found = hunt(format, range(SHARES[format]), tmp_path)
    print(f"{format}: {found}; refused by rule: {dict(found.rules.most_common())}")
    assert not found.broken, "\n".join(found.broken[:5])
    assert found.refused > SHARES[format] / 4 or format in ("xacro", "srdf")
    assert found.loaded > SHARES[format] / 20 or format == "xacro"


@pytest.mark.slow
@pytest.mark.parametrize("piece", range(PIECES))
@pytest.mark.parametrize("format", SHARES)
def test_many_mutants(format: str, piece: int, tmp_path: Path) -> None:
    size = SHARES[format] * MANY.get(format, 100) // PIECES
    found = hunt(format, range(1_000_000 + piece * size, 1_000_000 + (piece + 1) * size), tmp_path)
    print(f"{format}: {found}; refused by rule: {dict(found.rules.most_common())}")
    assert not found.broken, "\n".join(found.broken[:5])


def test_a_seed_gives_one_mutant() -> None:
    seeds = corpus("urdf")
    assert mutant(seeds, "urdf", 5) == mutant(seeds, "urdf", 5)
    assert len({mutant(seeds, "urdf", seed) for seed in range(50)}) > 45


def test_the_law_can_be_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that raises, hangs or gives no reason is caught, and its mutant is kept."""
    from kinemorph.formats.urdf import reader as urdf

    def raising(*_: object) -> None:
        raise KeyError("x")

    def hanging(*_: object) -> None:
        while True:
            pass

    monkeypatch.setattr("fuzzing.judging.FAILURES", tmp_path / "failures")
    monkeypatch.setattr("fuzzing.judging.LONGEST", 0.1)
    for read, reason in ((raising, "KeyError"), (hanging, "more than 0.1 s"), (lambda *_: None, "without a word")):
        monkeypatch.setattr(urdf, "read", read)
        path = tmp_path / "a.urdf"
        path.write_bytes(corpus("urdf")[0])
        with pytest.raises(Broken, match=reason):
            verdict(path)
    found = hunt("urdf", range(1), tmp_path)
    assert len(found.broken) == 1 and (tmp_path / "failures" / "urdf-0.urdf").exists()
