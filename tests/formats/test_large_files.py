"""Large model files: in time and memory, whether they are sound or wrong in every line."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kinemorph.formats import limits
from kinemorph.formats.loading import examine

MANY = 2000
LINK = (
    '<link name="l{0}"><inertial><mass value="{1}"/>'
    '<inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial></link>\n'
)
JOINT = (
    '<joint name="j{0}" type="revolute"><parent link="{1}"/><child link="{2}"/><origin xyz="0 0 .1"/>'
    '<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/>{3}</joint>\n'
)


def urdf(n: int, joints: Iterator[str], mass: str = "1") -> str:
    links = (LINK.format(k, mass) for k in range(n))
    return "".join(["<robot name='r'>\n", *links, *joints, "</robot>"])


def chain(n: int, mass: str = "1") -> str:
    return urdf(n, (JOINT.format(k, f"l{k - 1}", f"l{k}", "") for k in range(1, n)), mass)


def toml(n: int, body: str, joint: str) -> str:
    return "kinemorph = 1\n" + "".join(body.format(k) + joint.format(k) for k in range(n))


WRONG: dict[str, tuple[str, Callable[[int], str]]] = {
    "no joints": ("urdf", lambda n: urdf(n, iter(()))),
    "unknown parents": ("urdf", lambda n: urdf(n, (JOINT.format(k, f"m{k}", f"l{k}", "") for k in range(1, n)))),
    "a ring": ("urdf", lambda n: urdf(n, (JOINT.format(k, f"l{(k - 1) % n}", f"l{k}", "") for k in range(n)))),
    "one child for all": ("urdf", lambda n: urdf(n, (JOINT.format(k, f"l{k}", "l0", "") for k in range(1, n)))),
    "one name for all": ("urdf", lambda n: urdf(n, (JOINT.format(0, "l0", "l1", "") for _ in range(n)))),
    "decimal commas": ("urdf", lambda n: chain(n, "1,5")),
    "negative masses": ("urdf", lambda n: chain(n, "-1")),
    "unknown keys": ("toml", lambda n: toml(n, "[bodies.b{0}]\nmas = 1\n", "")),
    "unknown bodies": ("toml", lambda n: toml(n, "", '[joints.j{0}]\nkind = "free"\nparent = "a{0}"\nchild = "b"\n')),
    "unknown parameters": ("toml", lambda n: "kinemorph = 1\n[parameters]\n" + toml(n, 'p{0} = "q{0} + 1"\n', "")[14:]),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.slow
def test_many_mistakes_are_told_quickly(name: str, tmp_path: Path) -> None:
    ending, text = WRONG[name]
    path = tmp_path / f"many.{ending}"
    path.write_text(text(MANY))
    start = time.process_time()
    found = examine(path)
    assert time.process_time() - start < 3.0
    system, findings, unlisted = found.system, found.findings, found.unlisted
    assert system is None and findings and len(findings) <= limits.FINDINGS
    assert unlisted == 0 or len(findings) == limits.FINDINGS


CHILD = """
import resource, sys, time
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
from kinemorph.formats.loading import examine
start = time.process_time()
found = examine(sys.argv[1])
bodies = 0 if found.system is None else len(found.system.robot.bodies)
print(time.process_time() - start, bodies, len(found.findings))
"""


def in_child(path: Path) -> tuple[float, int, int]:
    """Seconds of processor time, bodies and findings of a process with 2 GiB."""
    pytest.importorskip("resource")
    run = subprocess.run([sys.executable, "-c", CHILD, str(path)], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    seconds, bodies, findings = run.stdout.split()
    return float(seconds), int(bodies), int(findings)


@pytest.mark.slow
def test_ten_thousand_links_in_time_and_memory(tmp_path: Path) -> None:
    path = tmp_path / "chain.urdf"
    path.write_text(chain(limits.BODIES))
    seconds, bodies, findings = in_child(path)
    assert seconds < 5.0 and bodies == limits.BODIES and findings == 0


@pytest.mark.slow
def test_more_bodies_than_the_limit_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "chain.urdf"
    path.write_text(chain(limits.BODIES + 1))
    _, bodies, findings = in_child(path)
    assert bodies == 0 and findings == 1


def test_a_chain_in_a_process_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "chain.urdf"
    path.write_text(chain(500))
    assert in_child(path)[1:] == (500, 0)
