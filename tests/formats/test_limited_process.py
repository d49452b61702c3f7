"""Scripts in processes of their own: with one that is kept and forks, and without, the answers are the same."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

import pytest

from kinemorph.formats import limited_process
from kinemorph.formats.limited_process import Answer, ask, stop_template

SCRIPT = """import os, sys
READY = []
def prepare(word):
    READY.append(word)
def main(*arguments):
    given = sys.stdin.buffer.read()
    print(len(given), *arguments, os.getpid(), os.getppid(), os.path.basename(os.getcwd()), end=" ")
    sys.stdout.flush()
    if "exit" in arguments: sys.exit(3)
    if "sleep" in arguments: import time; time.sleep(60)
    if "wrong" in arguments: raise ValueError("so it goes")
    print(*READY, end="")
if __name__ == "__main__":
    prepare("plain")
    main(*sys.argv[1:])
"""
forks = pytest.mark.skipif(sys.platform != "linux", reason="processes fork on Linux only")


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    return str(path)


def fields(answer: Answer) -> list[str]:
    assert answer.code == 0, answer
    return answer.output.decode().split()


@forks
def test_the_second_run_is_a_fork_of_the_same_process(script: str) -> None:
    first, second = (fields(ask(script, ["a"], b"12345", 10.0, {}, ["forked"])) for _ in range(2))
    assert first[:2] == ["5", "a"] and first[-1] == "forked"
    assert first[2] != second[2] and first[3] == second[3]
    assert first[3] != str(os.getpid()) and first[4] != second[4]
    assert all(one[4].startswith("kinemorph-") for one in (first, second)), "each run is in a folder of its own"
    assert fields(ask(script, ["a"], b"", 10.0, {}))[3] == str(os.getpid())


@pytest.mark.parametrize("prepared", [None, pytest.param(["forked"], marks=forks)])
def test_whatever_becomes_of_a_run_is_told(script: str, prepared: list[str] | None) -> None:
    assert ask(script, ["exit"], b"", 10.0, {}, prepared).code == 3
    wrong = ask(script, ["wrong"], b"", 10.0, {}, prepared)
    assert wrong.code == 1 and wrong.said.rstrip().endswith("ValueError: so it goes")
    begin = time.monotonic()
    assert ask(script, ["sleep"], b"", 0.3, {}, prepared).code is None
    assert time.monotonic() - begin < 10.0
    assert fields(ask(script, [], bytes(1 << 20), 10.0, {}, prepared))[0] == str(1 << 20)


@forks
def test_a_process_answers_for_its_own_script_and_preparation_only(script: str) -> None:
    other = Path(script).with_name("other.py")
    other.write_text(SCRIPT.replace("READY.append(word)", "READY.append(word + '!')"))
    asked = [(script, ["a"]), (script, ["b"]), (str(other), ["b"]), (script, ["a"])]
    found = [fields(ask(path, [], b"", 10.0, {}, prepared))[-1] for path, prepared in asked]
    assert found == ["a", "b", "b!", "a"]


@forks
def test_a_process_that_was_killed_is_replaced(script: str) -> None:
    ask(script, [], b"", 10.0, {}, ["forked"])
    template = limited_process._templates[script]
    os.kill(template.process.pid, 9)
    template.process.wait()
    assert fields(ask(script, [], b"", 10.0, {}, ["forked"]))[-1] == "forked"
    stop_template()
    assert not limited_process._templates


@forks
def test_runs_in_several_threads_are_all_answered(script: str) -> None:
    found: list[list[str]] = []
    threads = [
        threading.Thread(target=lambda k=k: found.append(fields(ask(script, [str(k)], b"", 20.0, {}, ["forked"]))))
        for k in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(one[1] for one in found) == ["0", "1", "2", "3"]


@forks
def test_a_fork_of_the_program_asks_a_process_of_its_own(script: str) -> None:
    first = fields(ask(script, [], b"", 10.0, {}, ["forked"]))[2]
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, fields(ask(script, [], b"", 10.0, {}, ["forked"]))[2].encode())
            stop_template()
        finally:
            os._exit(0)
    os.close(writing)
    other = os.read(reading, 100).decode()
    os.close(reading)
    os.waitpid(child, 0)
    assert other and other != first
    assert fields(ask(script, [], b"", 10.0, {}, ["forked"]))[2] == first
