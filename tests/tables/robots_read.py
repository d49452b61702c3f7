"""Writes docs/robots_read.md: every URDF file of example-robot-data, what it gave warnings for, and how well it agrees.

    python tests/tables/robots_read.py

The comparison is that of tests/formats/urdf/test_urdf_robots.py, whose slow tests hold the same numbers to bounds.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))

from kinemorph.formats.loading import examine  # noqa: E402
from kinemorph.formats.sources import Options  # noqa: E402
from support.robots.robot_files import Errors, folder, urdf_files, worst_errors  # noqa: E402

HEAD = """# Robots read from URDF

Every URDF file of the package `example-robot-data` is read by `kinemorph.load` and compared with Pinocchio at random
states: the poses of all links, the mass matrix M, the bias forces and the accelerations of forward dynamics. Each
value is the largest difference, with a fixed and with a free base. Differences of poses are absolute (positions in m,
entries of rotation matrices without unit), the others are relative to the largest entry.
`python tests/tables/robots_read.py` writes this page; `make slow` checks that the differences are below 1e-11.

"""
REFUSED = """
## Refused

These files contain no robot with finite accelerations. Pinocchio also refuses two of them, the one that names a missing
link and the one without links; for the others, whose last moving links have no mass, its accelerations are not finite.

| file | reason |
|---|---|"""
FOOT = """
The neck of iCub moves a link with almost no inertia, so a rounding error of M changes its accelerations by 4e-10; their
tolerance is four times that. M and bias agree as for all other robots.
"""


def main() -> None:
    """Reads, compares, writes."""
    rows, refused, files = [], [], urdf_files()
    for path in files:
        name = path.relative_to(folder()).as_posix()
        fixed, free = (examine(path, options=Options(base=base)) for base in ("fixed", "free"))
        if fixed.system is None or free.system is None:
            refused.append(f"| {name} | {fixed.errors[0].problem} [{fixed.errors[0].rule}] |")
            continue
        both = (
            worst_errors(path, fixed.system.robot, free=False),
            worst_errors(path, free.system.robot, free=True),
        )
        worst = Errors(*(max(pair) for pair in zip(*both, strict=True)))
        warned = Counter(finding.rule for finding in fixed.warnings)
        told = ", ".join(f"{rule} {count}" for rule, count in sorted(warned.items())) or "-"
        robot = fixed.system.robot
        figures = " | ".join(f"{value:.0e}" for value in worst)
        rows.append(f"| {name} | {len(robot.bodies)} | {robot.nv} | {told} | {figures} |")
    table = "| file | bodies | nv | warnings | poses | M | bias | accelerations |\n|---|---|---|---|---|---|---|---|"
    text = "\n".join([f"{HEAD}{len(rows)} of {len(files)} files load.\n\n{table}", *rows, REFUSED, *refused, FOOT])
    (TESTS.parent / "docs" / "robots_read.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
