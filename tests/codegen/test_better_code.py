"""Code that is compiled in the least time at first, and for speed in the background: the same bits throughout."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from kinemorph import library, simulate, simulate_batch
from kinemorph.codegen.backends.llvm import improvement
from kinemorph.codegen.building import function as functions
from kinemorph.codegen.building.compile import best_code, build
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.graphs.tracing import trace
from kinemorph.disk_cache import CodeCache, switched_off
from kinemorph.plants.robot_plant import forget_plants, plant

STATES = np.random.default_rng(5).normal(size=(300, 4))


@pytest.fixture(autouse=True)
def cache(folder: Path, monkeypatch: pytest.MonkeyPatch) -> CodeCache:
    """An empty cache; functions of other tests are not improved."""
    monkeypatch.setenv("KINEMORPH_CACHE", str(folder))
    monkeypatch.setattr("kinemorph.codegen.building.compile._growing", set())
    return CodeCache(folder)


def growing(scale: float) -> CompiledFunction:
    program = trace(lambda x: [scale * x[0] * x[1] + x[2].sin() * x[3]], {"x": (4,)}, name="growing")
    return build(program, grows=True)


def endings(cache: CodeCache) -> list[str]:
    return sorted(path.name.partition(".")[2] for path in cache.folder.iterdir())


def test_quick_code_is_replaced_by_code_for_speed_with_the_same_bits(cache: CodeCache) -> None:
    made = growing(1.5)
    quick, many, kernel = made(STATES[0]), made(STATES), made.kernel_address
    assert endings(cache) == ["code", "code", "text", "text"]
    assert best_code() and made.kernel_address != kernel
    assert np.array_equal(made(STATES[0]), quick) and np.array_equal(made(STATES), many)
    assert endings(cache) == ["code"] * 4 and not best_code()
    again = growing(1.5)  # it finds the best at once
    assert again.improve() is None and np.array_equal(again(STATES), many) and again.improve() is None


def test_it_is_replaced_once_it_has_run_long_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions, "WORTH", 0.25)
    made = growing(2.5)
    kernel = made.kernel_address
    made.used(0.2)
    assert made.kernel_address == kernel and threading.active_count() == len(threading.enumerate())
    made.used(0.2)
    ended = time.monotonic() + 30.0
    while made.kernel_address == kernel:
        assert time.monotonic() < ended
        time.sleep(0.02)


def test_without_a_cache_code_is_for_speed_at_once() -> None:
    with switched_off():
        assert growing(3.5).improve() is None


def test_a_text_that_is_gone_is_emitted_again(cache: CodeCache) -> None:
    made = growing(4.5)
    for path in cache.folder.glob("*.text"):
        path.unlink()
    kernel = made.kernel_address
    assert best_code() and made.kernel_address != kernel and endings(cache) == ["code", "code"]


def test_another_process_that_compiles_is_waited_for(cache: CodeCache, monkeypatch: pytest.MonkeyPatch) -> None:
    made, kernels = growing(5.5), []
    (text,) = cache.folder.glob("*.text")
    claim = cache.folder / f"{text.stem}.claim.part"
    claim.touch()
    monkeypatch.setattr(improvement, "EVERY", 0.01)
    begun = made.improve()
    assert begun is not None
    kernels.append(made.kernel_address)
    begun.join(0.2)
    assert begun.is_alive() and made.kernel_address == kernels[0]
    os.utime(claim, (1.0, 1.0))  # it was killed long ago
    begun.join(30.0)
    assert not begun.is_alive() and made.kernel_address != kernels[0]


def test_where_nothing_can_be_compiled_quick_code_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    made = growing(6.5)
    kernel, value = made.kernel_address, made(STATES[0])
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert best_code() and made.kernel_address == kernel and made(STATES[0]) == value


def test_a_batch_goes_on_with_the_same_bits_while_its_code_is_exchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    robot, v = library.hexapod24(), np.random.default_rng(1).normal(size=(60, library.hexapod24().nv))
    options = {"v": v, "method": "rk4", "step": 1e-3, "output_step": 0.05}
    best = simulate_batch(plant(robot), 1.0, **options)
    kernels: set[int] = set()
    used = CompiledFunction.used

    def improved(made: CompiledFunction, seconds: float) -> None:
        used(made, seconds)
        kernels.add(made.kernel_address)
        if len(kernels) == 1 and (begun := made.improve()):
            begun.join()

    monkeypatch.setattr(CompiledFunction, "used", improved)
    monkeypatch.setattr("kinemorph.simulation.running.fleet.FIRST_TRIES", 500)  # many calls
    again = simulate_batch(plant(robot), 1.0, **options)
    assert len(kernels) == 2 and np.array_equal(again.q, best.q) and np.array_equal(again.v, best.v)


ENDS = """
import os, signal, sys, time, warnings
import kinemorph
from kinemorph.codegen.backends.llvm import improvement
from kinemorph.codegen.building.compile import build, _growing
run = kinemorph.simulate(kinemorph.library.hexapod24(), 0.1)
thread = next(iter(_growing)).improve()
while improvement._work.process is None:
    time.sleep(0.01)
print(improvement._work.process.pid, flush=True)
if sys.argv[1] == "fork":
    if (child := os.fork()) == 0:
        again = kinemorph.simulate(kinemorph.library.hexapod24(), 0.1)
        os._exit(0 if (again.q == run.q).all() else 1)
    assert os.waitpid(child, 0)[1] == 0
    thread.join()
if sys.argv[1] == "interrupt":
    signal.raise_signal(signal.SIGINT)
"""


@pytest.mark.skipif(os.name != "posix", reason="processes are looked at as POSIX has them")
@pytest.mark.parametrize("how, code", [("exit", 0), ("fork", 0), ("interrupt", -2)])
def test_programs_end_and_fork_while_code_is_compiled(how: str, code: int, cache: CodeCache) -> None:
    ended = subprocess.run([sys.executable, "-c", ENDS, how], capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == code, ended.stderr
    with pytest.raises(ProcessLookupError):
        os.kill(int(ended.stdout), 0)
    assert not any("claim" in name for name in endings(cache))
    assert endings(cache).count("text") == (0 if how == "fork" else 1)


def test_a_run_by_quick_code_has_the_bits_of_one_by_the_best() -> None:
    found = []
    for _ in range(2):
        forget_plants()
        run = simulate(library.amru5_walk(), 0.3)
        found.append((run.q, run.v))
        best_code()
    forget_plants()
    assert np.array_equal(found[0], found[1])
