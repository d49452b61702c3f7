"""Compiled code on disk: found again by content, never trusted when altered, never in the way of a result."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import kinemorph
from kinemorph import disk_cache as cache
from kinemorph.codegen.backends.llvm import engine as llvm_engine
from kinemorph.codegen.building.compile import build
from kinemorph.deriving.dynamics import derive
from kinemorph.disk_cache import CODE, FORMAT, OUTLINE, PART, CodeCache
from kinemorph.errors import CompileError, ShapeError
from kinemorph.model.library import puma
from support.codegen.cached_code import X, compilations, sample, stored

# ── hits and misses ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_hit_emits_nothing_and_loads_the_same_code(folder):
    source = "define double @twice(double %x) { %y = fadd double %x, %x ret double %y }"
    cold = llvm_engine.load_module("key", "twice", lambda: source)
    (path,) = stored(folder)
    before = path.read_bytes()

    def unwanted() -> str:
        raise AssertionError("emitted again")

    warm = llvm_engine.load_module("key", "twice", unwanted)
    assert path.read_bytes() == before and cold.address("twice") != warm.address("twice")
    for engine in (cold, warm):
        assert ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(engine.address("twice"))(1.5) == 3.0
    with pytest.raises(AssertionError, match="emitted again"):
        llvm_engine.load_module("another key", "twice", unwanted)


def test_a_function_from_the_cache_gives_the_same_bits(folder, monkeypatch):
    cold = build(sample())(X)
    compiled = compilations(monkeypatch)
    warm = build(sample())
    assert warm(X).tobytes() == cold.tobytes() and compiled == []
    assert "define" in warm.source and compiled == []  # written when it is asked for
    with cache.switched_off():
        assert build(sample())(X).tobytes() == cold.tobytes() and compiled == ["sample"]


def test_batches_of_a_robot_from_the_cache_give_the_same_bits(folder, monkeypatch):
    robot = puma()
    rng = np.random.default_rng(2)
    q, v, tau = (rng.normal(size=(9, 6)) for _ in range(3))
    cold = derive(robot).forward_dynamics(q, v, tau)
    compiled = compilations(monkeypatch)
    assert derive(robot).forward_dynamics(q, v, tau).tobytes() == cold.tobytes()
    assert compiled == []


def test_code_is_shared_by_content_and_messages_keep_their_names(folder, monkeypatch):
    first = build(sample(name="first"))
    compiled = compilations(monkeypatch)
    second = build(sample(name="second"))
    assert compiled == [] and len(stored(folder)) == 1
    for function in (first, second, first):
        with pytest.raises(ShapeError, match=f"'{function.name}': raw"):
            function.raw(np.empty(2), np.empty(2))


@pytest.mark.parametrize("fact", range(len(llvm_engine.facts())))
def test_code_for_other_facts_is_compiled_anew(folder, monkeypatch, fact):
    """Another LLVM, llvmlite, triple, CPU, feature, version of this package, emitter or layout of objects."""
    expected = build(sample())(X)
    facts = llvm_engine.facts()
    compiled = compilations(monkeypatch)
    monkeypatch.setattr(llvm_engine, "facts", lambda: (*facts[:fact], facts[fact] + "+", *facts[fact + 1 :]))
    assert build(sample())(X).tobytes() == expected.tobytes()
    assert compiled == ["sample"] and len(stored(folder)) == 2


def test_facts_name_llvm_and_the_cpu():
    import llvmlite
    from llvmlite import binding

    facts = llvm_engine.facts()
    versions = ".".join(map(str, binding.llvm_version_info)), llvmlite.__version__, kinemorph.__version__
    assert {*versions, binding.get_host_cpu_name()} <= set(facts)


def test_a_change_in_any_source_file_of_the_emitter_changes_the_facts(tmp_path):
    package = Path(kinemorph.__file__).parent
    copy = tmp_path / "package"
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__"))
    original = llvm_engine.emitter_digest(package)
    assert original in llvm_engine.facts()
    assert llvm_engine.emitter_digest(copy) == original
    for name in (
        "vocabulary/ops.py",
        "vocabulary/blocks.py",
        "codegen/graphs/graph.py",
        "codegen/backends/llvm/math.py",
    ):
        llvm_engine.emitter_digest.cache_clear()
        text = (copy / name).read_bytes()
        (copy / name).write_bytes(text.replace(b"e", b"E", 1))
        assert llvm_engine.emitter_digest(copy) != original, name
        (copy / name).write_bytes(text)
    llvm_engine.emitter_digest.cache_clear()
    assert llvm_engine.emitter_digest(copy) == original


def test_a_failure_while_emitting_or_compiling_leaves_no_file(folder):
    def failing() -> str:
        raise ZeroDivisionError("in the emitter")

    with pytest.raises(ZeroDivisionError):
        llvm_engine.load_module("key", "sample", failing)
    with pytest.raises(CompileError, match="'sample': LLVM does not accept"):
        llvm_engine.load_module("key", "sample", lambda: "this is not LLVM")
    assert stored(folder) == []


# ── damaged files ─────────────────────────────────────────────────────────────────────────────────────────────────────


def flipped(path: Path, place: int) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 0x10
    path.write_bytes(content)


def replaced_by_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "inside").touch()


def replaced_by_link(path: Path) -> None:
    path.rename(path.with_suffix(".moved"))
    path.symlink_to(path.with_suffix(".moved"))


def replaced_by_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


DAMAGE: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "head only": lambda path: path.write_bytes(path.read_bytes()[: len(FORMAT) + 32]),
    "half": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "last byte missing": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "something added": lambda path: path.write_bytes(path.read_bytes() + b"\0"),
    "another format": lambda path: path.write_bytes(path.read_bytes().replace(b"format 1", b"format 2", 1)),
    "bit in the format": lambda path: flipped(path, 3),
    "bit in the checksum": lambda path: flipped(path, len(FORMAT) + 5),
    "bit in the code": lambda path: flipped(path, len(FORMAT) + 500),
    "last bit": lambda path: flipped(path, -1),
    "a folder": replaced_by_folder,
    "a link": replaced_by_link,
    "a pipe": replaced_by_pipe,
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_a_miss_and_is_replaced(folder, monkeypatch, damage):
    expected = build(sample())(X)
    (path,) = stored(folder)
    whole = path.read_bytes()
    DAMAGE[damage](path)
    compiled = compilations(monkeypatch)
    assert build(sample())(X).tobytes() == expected.tobytes() and compiled == ["sample"]
    assert path.read_bytes() == whole and not path.is_symlink()
    build(sample())
    assert compiled == ["sample"]


def test_code_under_another_name_is_a_miss(folder, monkeypatch):
    build(sample(2.0))
    (one,) = stored(folder)
    build(sample(3.0))
    (other,) = set(stored(folder)) - {one}
    other.write_bytes(one.read_bytes())
    compiled = compilations(monkeypatch)
    np.testing.assert_allclose(build(sample(3.0))(X)[0], np.sin(3.0 * X[0]), rtol=1e-12)
    assert compiled == ["sample"]


# ── many at once, and killed ──────────────────────────────────────────────────────────────────────────────────────────


CHILD = """
import sys
import numpy as np
from kinemorph.deriving.dynamics import derive
from kinemorph.model.library import double_pendulum
print("ready", flush=True)
sys.stdin.readline()
q = np.linspace(0.1, 0.9, 8).reshape(4, 2)
d = derive(double_pendulum())
results = d.mass_matrix(q), d.inverse_dynamics(q, q, q), d.forward_dynamics(q, q, q)
print(b"".join(result.tobytes() for result in results).hex())
"""


@pytest.mark.slow
def test_two_processes_compile_the_same_robot_at_once(folder):
    command = [sys.executable, "-W", "error::UserWarning", "-c", CHILD]
    children = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    for child in children:
        assert child.stdout is not None and child.stdout.readline() == "ready\n"
    for child in children:  # both begin now
        assert child.stdin is not None
        child.stdin.write("\n")
        child.stdin.flush()
    answers = [child.communicate()[0] for child in children]
    assert [child.returncode for child in children] == [0, 0]
    assert answers[0] == answers[1] and len(answers[0]) == 4 * (4 + 2 + 2) * 16 + 1
    assert len(stored(folder)) >= 3 and {path.suffix for path in stored(folder)} == {CODE, OUTLINE}
    before = {path: path.read_bytes() for path in stored(folder)}
    third = subprocess.run(command, input="\n", stdout=subprocess.PIPE, text=True, check=True)
    assert third.stdout == "ready\n" + answers[0]
    assert {path: path.read_bytes() for path in stored(folder)} == before


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
def test_a_killed_writer_leaves_nothing_that_counts(folder):
    child = f"""
import os, signal
os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
from kinemorph.disk_cache import CodeCache
from pathlib import Path
CodeCache(Path({str(folder)!r})).write("a" * 64, b"code")
"""
    assert subprocess.run([sys.executable, "-c", child], check=False).returncode == -signal.SIGKILL
    (part,) = stored(folder)
    store = CodeCache(folder)
    assert part.suffix == PART and store.read("a" * 64) is None and store.size()[0] == 0
    store.prune()
    assert stored(folder) == [part]  # its writer may be alive
    long_ago = time.time() - 2 * cache.STALE
    os.utime(part, (long_ago, long_ago))
    store.prune()
    assert stored(folder) == []


def test_threads_build_at_once(folder):
    programs = [sample(2.0 + k % 3) for k in range(9)]
    results: list[object] = [None] * len(programs)
    start = threading.Barrier(len(programs))

    def work(k: int) -> None:
        start.wait()
        results[k] = build(programs[k])(X).tobytes()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(programs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results[0] is not None and len(set(results)) == 3
    assert all(results[k] == results[k % 3] for k in range(9))
    assert [path.suffix for path in stored(folder)] == [CODE] * 3


# ── size ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def digests(count: int) -> list[str]:
    return [f"{k:064x}" for k in range(count)]


def aged(store: CodeCache, digest: str, hours: float) -> None:
    then = time.time() - 3600.0 * hours
    os.utime(store.folder / (digest + CODE), (then, then))


def test_above_the_limit_the_longest_unused_goes_first(folder):
    store = CodeCache(folder)
    names = digests(10)
    for k, digest in enumerate(names):
        store.write(digest, bytes(1000))
        aged(store, digest, 100.0 - k)
    assert store.read(names[0]) == bytes(1000)  # which makes it the last one used
    size = store.size()[1]
    store.prune(size)
    assert store.size() == (10, size)
    store.prune(size - 1)
    left = [digest for digest in names if store.read(digest)]
    assert left == [names[0], *names[4:]]


def test_writing_looks_at_the_total_now_and_then(folder, monkeypatch):
    monkeypatch.setattr(cache, "LOOK", 3500)
    looks: list[int] = []
    monkeypatch.setattr(CodeCache, "prune", lambda self: looks.append(self.size()[0]))
    for digest in digests(9):
        CodeCache(folder).write(digest, bytes(1000))
    assert looks == [1, 5, 9]  # at the first write, then each time 3500 bytes are full


def test_clearing_removes_the_caches_own_files_only(folder):
    store = CodeCache(folder)
    for digest in digests(3):
        store.write(digest, bytes(100))
    (folder / f"{'b' * 64}.12ab_{PART}").write_bytes(b"1234")
    others = [folder / name for name in ("notes.txt", f"{'b' * 63}{CODE}", f"x{'b' * 64}{CODE}", f"{'b' * 64}.o")]
    for path in others:
        path.write_text("mine")
    total = 3 * (100 + 32 + len(FORMAT)) + 4
    assert store.size() == (3, total)
    assert store.clear() == (4, total)
    assert stored(folder) == sorted(others) and store.clear() == (0, 0)


def test_a_missing_folder_is_empty_and_usable(folder):
    store = CodeCache(folder)
    assert store.read("a" * 64) is None and store.size() == (0, 0) and store.clear() == (0, 0)
    store.prune()
    assert not folder.exists()
    assert store.problem() is None and stored(folder) == []
