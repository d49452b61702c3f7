"""Folders of robot files that others wrote: which files are below them, and a process that answers for one at a time.

A folder is a collection, called by its name. Nothing is fetched. Files below `.git`, `build` and the like are passed
over. A file is judged in a process of its own, which may die of it or take too long without ending the survey.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ENDINGS = {".urdf": "urdf", ".xacro": "xacro", ".sdf": "sdf", ".world": "sdf", ".mjcf": "mjcf"}
ROOTS = {"robot": "urdf", "mujoco": "mjcf", "sdf": "sdf", "gazebo": "sdf"}  # outermost elements of .xml files
PARTS = {"element", "schema"}  # outermost elements of files that describe SDF itself
PASSED = {".git", "build", "node_modules", "__pycache__"}
ANSWER = "--answer"  # the option by which a script is started as the process that answers


def robot_files(folder: Path) -> Iterator[tuple[Path, str]]:
    """All robot files below a folder, with their formats."""
    for path in sorted(folder.rglob("*")):
        if PASSED.intersection(path.parts) or not path.is_file():
            continue
        ending = path.suffix.lower()
        root = _root(path) if ending in ENDINGS or ending == ".xml" else ""
        found = ENDINGS.get(ending, ROOTS.get(root or ""))
        if found and root not in PARTS:
            yield path, found


def _root(path: Path) -> str | None:
    """The outermost element of an XML file; None if there is none."""
    from lxml import etree

    try:
        for _, element in etree.iterparse(str(path), events=("start",), recover=True):
            return str(etree.QName(element).localname)
    except (etree.XMLSyntaxError, OSError, ValueError):
        return None
    return None


class NoAnswer(Exception):
    """Why a file has no answer."""


class Answering:
    """A process that answers for files one after the other; it is replaced where it dies or takes too long.

    It runs `script` with the option ANSWER, which calls `answer_from_stdin`.
    """

    def __init__(self, script: str, seconds: float) -> None:
        self.script, self.seconds = script, seconds
        self._process: subprocess.Popen[str] | None = None

    def ask(self, *question: str) -> Any:
        """The answer to a question. Raises NoAnswer where the process died or took longer than the time limit."""
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, self.script, ANSWER], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, text=True,
            )  # fmt: skip
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps(question) + "\n")
            process.stdin.flush()
        with selectors.DefaultSelector() as waiting:
            waiting.register(process.stdout, selectors.EVENT_READ)
            line = process.stdout.readline() if waiting.select(self.seconds) else ""
        if line:
            found = json.loads(line)
            if found["failed"]:
                raise NoAnswer(found["failed"])
            return found["answer"]
        slow = process.poll() is None
        process.kill()
        process.wait()
        self._process = None
        raise NoAnswer(f"no answer in {self.seconds:g} s" if slow else "the process died")


def answer_from_stdin(answer: Callable[..., Any]) -> None:
    """Answers each line of stdin, a question as JSON, with a line: its answer, or the error that it raised."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # peers print to stdout
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        try:
            told = {"answer": answer(*json.loads(line)), "failed": ""}
        except Exception as error:
            told = {"answer": None, "failed": f"{type(error).__name__}: {error}"[:300]}
        answers.write(json.dumps(told) + "\n")
        answers.flush()
