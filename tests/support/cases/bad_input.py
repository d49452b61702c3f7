"""Bad model files: the stored ones, those that are too large to store, and what is said about each.

`answers` reads them in one process with limits of time and memory, as `kinemorph check` does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import kinemorph

FOLDER = Path(__file__).resolve().parents[2] / "data" / "badinput"
STORED = sorted(path for path in FOLDER.iterdir() if path.suffix != ".json")
SECONDS, BYTES = 5.0, 2 * 2**30

_HEAD = '<?xml version="1.0"?><robot name="r">'
_MASS = '<mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
_LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'


def _link(name: str) -> str:
    return f'<link name="{name}"><inertial><origin xyz="0 0 0"/>{_MASS}'


def _joint(name: str, parent: str, child: str) -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    place = '<origin xyz="0 0 1" rpy="0 0 0"/><axis xyz="0 0 1"/>'
    return f'<joint name="{name}" type="revolute">{ends}{place}{_LIMIT}</joint>'


def chain(count: int) -> str:
    """A plain chain of links, one on top of the other."""
    links = "".join(f'<link name="l{k}"><inertial>{_MASS}' for k in range(count))
    joints = "".join(
        f'<joint name="j{k}" type="continuous"><parent link="l{k}"/><child link="l{k + 1}"/>'
        '<origin xyz="0 0 1"/><axis xyz="0 1 0"/></joint>'
        for k in range(count - 1)
    )
    return f'<robot name="r">{links}{joints}</robot>'


def large() -> dict[str, str]:
    """The files that are made when they are needed, by name."""
    deep = "<x>" * 20_000 + "</x>" * 20_000
    long = "a" * 1_000_000
    links = "".join(_link(f"l{k}") for k in range(10_000))
    joints = "".join(_joint(f"j{k}", f"l{k}", f"l{k + 1}") for k in range(9_999))
    return {
        "chain1000.urdf": chain(1000),
        "chain3000.urdf": chain(3000),
        "chain10000.urdf": chain(10000),
        "huge_10k_links.urdf": f"{_HEAD}{links}{joints}</robot>",
        "huge_name.urdf": f"{_HEAD}{_link(long)}{_link('b')}{_joint('j', long, 'b')}</robot>",
        "deep_nesting.urdf": f"{_HEAD}{deep}{_link('a')}{_link('b')}{_joint('j', 'a', 'b')}</robot>",
    }


_CHILD = """
import json, resource, sys, time
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]), int(sys.argv[1])))
from kinemorph.formats.loading import examine
for path in sys.argv[2:]:
    start = time.process_time()
    found = examine(path)
    row = {"loaded": found.system is not None, "seconds": time.process_time() - start}
    row["findings"] = [finding.as_dict() | {"text": str(finding)} for finding in found.findings]
    row["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    print(json.dumps(row), flush=True)
"""


def answers(paths: Sequence[Path]) -> dict[str, Any]:
    """What is said about each file, by its name: whether it loads, findings, time [s] and memory [bytes]."""
    source = str(Path(kinemorph.__file__).resolve().parent.parent)
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")  # each of them asks for memory
    command = [sys.executable, "-c", _CHILD, str(BYTES), *map(str, paths)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=120.0 + 2.0 * SECONDS * len(paths),  # of the clock, on a computer that does other things as well
        env={**os.environ, **threads, "PYTHONPATH": source},
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr[-2000:]
    return {path.name: json.loads(line) for path, line in zip(paths, done.stdout.splitlines(), strict=True)}
