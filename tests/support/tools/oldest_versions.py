"""The oldest versions that pyproject.toml admits of what users install, as constraints for pip.

    python tests/support/tools/oldest_versions.py > constraints.txt

Test tools and peers are left to pip: they have to run, not to be old.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[3] / "pyproject.toml"
EXTRAS = ("sympy", "hdf5", "stiff", "mujoco", "xacro", "view", "video")


def oldest_versions() -> list[str]:
    """Lines such as `numpy==2.0.*`: the newest correction of the lower bound."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    needed = [*project["dependencies"], *(one for name in EXTRAS for one in extras[name])]
    bounds = (re.fullmatch(r"([\w-]+)>=(\d+)(?:\.(\d+))?", one) for one in needed)
    return [f"{bound[1]}=={bound[2]}.{bound[3] or 0}.*" for bound in bounds if bound]


if __name__ == "__main__":
    print("\n".join(oldest_versions()))
