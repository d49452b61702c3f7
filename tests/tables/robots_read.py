"""Writes docs/robots_read.md: every URDF file of example-robot-data, what it gave warnings for, and how well it agrees.

    python tests/tables/robots_read.py

The comparison is that of tests/formats/test_urdf_robots.py, whose slow tests hold the same numbers to bounds.
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

Every URDF file of the package `example-robot-data`, read by `kinemorph.load` and compared with Pinocchio at random
states: the poses of all links, the mass matrix M, the bias forces and the accelerations of forward dynamics. Each
figure is the largest difference on a fixed and on a free base, for poses in m and 1, for the others as a share of the
largest entry.
`python tests/tables/robots_read.py` writes this page; `make slow` holds the figures to 1e-11.

"""
REFUSED = """
## Refused

These hold no robot whose accelerations are finite. Pinocchio refuses two of them as well, the one with a link that is
not there and the one without links; for the others, whose moving tips have no mass, its accelerations are not finite.

| file | reason |
|---|---|"""
FOOT = """
The neck of iCub turns a link of almost no inertia, so one rounding of M moves its accelerations by 4e-10; they are
held to four times that. M and bias agree as everywhere.
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
