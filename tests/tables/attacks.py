"""Writes the table of attacks into docs/security.md.

    python tests/tables/attacks.py

A test compares the page with what this script would write.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "security.md"
OPENED, CLOSED = "<!-- attacks: written by tests/tables/attacks.py -->\n", "<!-- end of attacks -->"


def table() -> str:
    """The table: what is tried, what happens, which guard refuses it, and the test."""
    from support.serving.attacks import all_attacks

    rows = ["| | what is tried | what happens | guard | test |", "|---|---|---|---|---|"]
    for number, attack in enumerate(all_attacks(), 1):
        guard = attack.guard or "below the server, or without a switch"
        rows.append(f"| {number} | {attack.tried} | {attack.answer} | {guard} | `{attack.name}` |")
    return "\n".join(rows) + "\n"


def main() -> None:
    """Writes the page anew."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(OPENED)
    PAGE.write_text(f"{before}{OPENED}\n{table()}\n{CLOSED}{rest.partition(CLOSED)[2]}", encoding="utf-8")


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests"))
    main()
