"""The verb `studio`: wrong arguments are sentences, Python files are loaded at start, Ctrl-C ends it.

The page is served before models can be read.
"""

from __future__ import annotations

import asyncio
import os
import posixpath
import re
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from kinemorph.display.serving.channel import Channel
from kinemorph.display.serving.conversation import answer_of
from kinemorph.errors import KinemorphError
from kinemorph.studio import session
from kinemorph.studio.open_studio import Studio
from kinemorph.studio.session import Session
from kinemorph.studio.workers.user_python import load_python
from support.studio.command import started_studio
from support.tools.command_line import run


def _got(studio: Studio, path: str, headers: dict[str, str]) -> str:
    """The text of a file that a studio serves."""
    with urlopen(Request(studio.server.origin + path, headers=headers), timeout=30.0) as answer:
        return str(answer.read(), "utf-8")


def _refused(*arguments: str) -> str:
    """What the verb says about wrong arguments."""
    result = run("studio", "--no-open", *arguments)
    assert result.exit_code == 2 and result.stdout == ""
    assert result.stderr.startswith("error: ") and "Traceback" not in result.stderr
    return result.stderr


def test_wrong_places_are_sentences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "robots").mkdir()
    (tmp_path / "notes.md").write_text("x")
    os.mkfifo(tmp_path / "pipe.toml")
    assert "'robts' does not exist; expected a folder or a model file. Did you mean 'robots'?" in _refused("robts")
    assert "'puma' is a built-in robot" in _refused("puma")
    assert "'notes.md' is not a model file; expected a name that ends in one of" in _refused("notes.md")
    assert "'pipe.toml' is a device or a pipe" in _refused("pipe.toml")
    assert "--port is 70000; expected a whole number from 0 to 65535" in _refused("robots", "--port", "70000")
    assert "'own.py', does not exist" in _refused("robots", "--load", "own.py")


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK)  # the superuser may write everywhere
    assert f"folder '{tmp_path}' cannot be read and written, so that edits could not be stored." in _refused(
        str(tmp_path)
    )


def test_a_missing_extra_and_a_taken_port_are_sentences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert f"port {port} is taken by another program" in _refused(str(tmp_path), "--port", str(port))
    found: Any = sys.modules["kinemorph.cli.verbs.pages.studio"]
    monkeypatch.setattr(found, "find_spec", lambda name: None if name == "websockets" else object())
    assert "pip install 'kinemorph[studio]'" in _refused(str(tmp_path))


def test_python_files_are_executed_once_and_failures_name_their_line(tmp_path: Path) -> None:
    good = tmp_path / "own_kinds_for_a_test.py"
    good.write_text("import pathlib\nlog = pathlib.Path(__file__).with_suffix('.log')\nlog.open('a').write('x')\n")
    try:
        assert load_python([good, good]) == (good, good)
        assert good.with_suffix(".log").read_text() == "x"
    finally:
        sys.modules.pop("own_kinds_for_a_test", None)
    for name, text, said in (
        ("bad_one.py", "x = 1\ny = x / 0\n", r"failed in line 2: ZeroDivisionError: division by zero"),
        ("bad_two.py", "def f(:\n", r"failed in line 1: SyntaxError"),
        ("json.py", "", r"another module has this name"),
        ("no-name.py", "", r"this is no name of a Python module"),
        ("text.txt", "", r"is not a Python file"),
    ):
        (tmp_path / name).write_text(text)
        with pytest.raises(KinemorphError, match=said):
            load_python([tmp_path / name])
        assert name == "json.py" or Path(name).stem not in sys.modules


def test_a_server_starts_without_what_reads_models() -> None:
    server = "import kinemorph.studio.open_studio, kinemorph.display.serving.application, uvicorn"
    command = f"import sys, kinemorph.cli.verbs.pages.studio; {server}; print('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", command], capture_output=True, text=True).stdout == "False\n"


def test_the_page_is_served_before_the_session_is_open_and_its_questions_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    may_open = threading.Event()
    monkeypatch.setattr(session, "Session", lambda *given: may_open.wait(60.0) and Session(*given))
    with Studio(tmp_path / "link", port=0) as studio, ThreadPoolExecutor(1) as threads:
        bearer = {"Authorization": f"Bearer {studio.server.token}"}
        scripts = {
            path: _got(studio, path, bearer) for path in re.findall(r'href="(/.*?\.js)"', _got(studio, "/", bearer))
        }
        assert "export async function unpackBytes" in scripts["/stage/stage.js"]  # one file with everything it imports
        assert not re.search("^import ", scripts["/stage/stage.js"], re.MULTILINE)
        question = threads.submit(studio.server.site.answer, Channel(asyncio.new_event_loop()), "hello", {})
        assert not question.done() and studio.folder == tmp_path
        may_open.set()
        assert question.result(60.0)["documents"] == [] and studio.session.folder == tmp_path


def test_a_session_that_cannot_be_opened_is_a_sentence_on_the_page(tmp_path: Path) -> None:
    missing = tmp_path / "removed"
    with Studio(missing, port=0) as studio:
        told = answer_of(studio.server.site, Channel(asyncio.new_event_loop()), "hello", {})
        assert told["error"] == f"'{missing}' is not a folder. Name a folder with model files to open as a project."


def test_all_scripts_of_the_first_picture_are_announced_in_the_page() -> None:
    """A browser loads these together; others it would find one after the other."""
    page = files("kinemorph.studio").joinpath("page")
    needed: set[str] = set()
    waiting = ["/studio/main.js"]
    while waiting:
        path = waiting.pop()
        if path in needed:
            continue
        needed.add(path)
        if path.startswith("/studio/"):
            text = page.joinpath(path.removeprefix("/studio/")).read_text(encoding="utf-8")
            found = re.findall(r'^import \{[^}]*\} from "(.+)";$', text, re.MULTILINE)
            waiting += [posixpath.normpath(posixpath.join(posixpath.dirname(path), one)) for one in found]
    index = page.joinpath("index.html").read_text(encoding="utf-8")
    assert {*re.findall(r'"modulepreload" href="(.+)"', index), "/studio/main.js"} == needed


@pytest.mark.slow
def test_it_runs_until_ctrl_c_and_prints_its_address(tmp_path: Path) -> None:
    process, told = started_studio(tmp_path)
    assert told["url"].startswith("http://127.0.0.1:") and "token=" in told["url"]
    assert told["folder"] == str(tmp_path)
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 0
