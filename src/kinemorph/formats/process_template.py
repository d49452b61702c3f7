"""A process that has imported what a script needs, and forks for each run of it: this file is run as a script.

Starting Python and importing MuJoCo takes a quarter of a second, a fork takes about a millisecond. Every run has a
process of its own, as pristine as this one, and may confine itself or abort as it likes.

Arguments: the number of a socket, the path of the script, and the arguments of its function `prepare`, which imports.
Each message on the socket asks for one run: JSON with the arguments of `main` and the folder to run in, and three open
files, which become stdin, stdout and stderr. The answer is the exit code of the run. Like the scripts that it runs,
this file imports nothing of the package, so that it can run in isolated mode.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import traceback
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any

IDLE = 60.0  # [s] without a request, after which the process ends
LONGEST = 1 << 16  # bytes of a message
FILES = 3  # stdin, stdout, stderr


def script_at(path: str) -> Any:
    """The script as a module, without running it."""
    spec = spec_from_file_location("script", path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(script: Any, asked: dict[str, Any], files: list[int]) -> None:
    """Runs `main` of the script in this process, which ends with it."""
    code = 1
    try:
        for number, file in enumerate(files):
            os.dup2(file, number)
            os.close(file)
        os.chdir(asked["folder"])
        script.main(*asked["arguments"])
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)


def serve(script: Any, asking: socket.socket) -> None:
    """Answers requests until there is no one left to ask, or none has come for IDLE seconds."""
    asking.settimeout(IDLE)
    while True:
        try:
            message, files, _, _ = socket.recv_fds(asking, LONGEST, FILES)
        except (TimeoutError, OSError):
            return
        if not message:
            return
        child = os.fork()
        if child == 0:
            asking.close()
            run(script, json.loads(message), files)
        for file in files:
            os.close(file)
        _, status = os.waitpid(child, 0)
        asking.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())


if __name__ == "__main__":
    number, path, *prepared = sys.argv[1:]
    script = script_at(path)
    script.prepare(*prepared)
    serve(script, socket.socket(fileno=int(number)))
