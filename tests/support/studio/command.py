"""The studio as a command, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any


def started_studio(folder: Path) -> tuple[subprocess.Popen[str], dict[str, Any]]:
    """`kinemorph studio` on a folder, and what it prints at its start: "url" and "folder"."""
    command = [sys.executable, "-m", "kinemorph", "studio", str(folder), "--no-open", "--port", "0", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    text = ""
    for line in process.stdout:
        text += line
        if line == "}\n":
            break
    return process, json.loads(text)
