"""MJCF files of others, loaded, written again, and run by MuJoCo beside the original: is it the same scene?

    python tests/support/peers/mjcf_written.py FOLDER [NAME ...]      prints a table of all scenes below the folder

Each file runs for half a second, from its first keyframe if it has one. `spread` is by how much the end of the original
itself changes when its start is moved by 1e-14: a scene that is as sensitive as that cannot be compared.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np

SECONDS = 0.5
SAME = 1e-6  # [m or rad], and of quaternions
MOVED = 1e-14


class Row(NamedTuple):
    """What came of a file: the largest difference of qpos at the end, see above, and what was told at saving."""

    name: str
    difference: float
    spread: float
    told: tuple[str, ...]

    @property
    def verdict(self) -> str:
        if self.difference <= SAME:
            return "equal"
        return "told" if self.told else "sensitive" if self.spread > 0.1 * self.difference else "different"


def compared(path: Path) -> Row:
    """Writes a file again in another folder and runs both in MuJoCo."""
    import mujoco

    from kinemorph.formats.loading import load, save

    mujoco.set_mju_user_warning(lambda message: None)  # or it writes a file here
    original = mujoco.MjModel.from_xml_path(str(path))
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("ignore")
        system = load(path)
        warnings.simplefilter("always")
        save(system, Path(folder) / "again.xml", format="mjcf")
        again = mujoco.MjModel.from_xml_path(str(Path(folder) / "again.xml"))
    told = tuple(str(one.message).partition(": ")[2] for one in said if "[dropped]" in str(one.message))
    begin, controls, activations = _start(original)
    first = _end(original, begin, controls, activations)
    spread = np.abs(_end(original, [begin[0] + MOVED, begin[1]], controls, activations) - first).max(initial=0.0)
    same = (original.nu, original.na) == (again.nu, again.na)
    last = _end(again, begin, controls if same else [], activations if same else [])
    difference = np.abs(last - first).max(initial=0.0) if last.shape == first.shape else np.inf
    return Row(f"{path.parent.name}/{path.stem}", float(difference), float(spread), told)


def _start(model: object) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """((qpos, qvel), ctrl, act) of the first keyframe, or of qpos0 at rest."""
    if model.nkey:  # type: ignore[attr-defined]
        return [model.key_qpos[0], model.key_qvel[0]], model.key_ctrl[0], model.key_act[0]  # type: ignore[attr-defined]
    return [model.qpos0, np.zeros(model.nv)], np.zeros(model.nu), np.zeros(model.na)  # type: ignore[attr-defined]


def _end(model: object, begin: list[np.ndarray], controls: object, activations: object) -> np.ndarray:
    import mujoco

    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = begin
    for values, given in ((data.ctrl, controls), (data.act, activations)):
        if len(given):  # type: ignore[arg-type]
            values[:] = given
    for _ in range(round(SECONDS / model.opt.timestep)):  # type: ignore[attr-defined]
        mujoco.mj_step(model, data)
    return np.array(data.qpos)


def scenes(folder: Path) -> list[Path]:
    """The scenes below a folder that MuJoCo itself compiles."""
    import mujoco

    found = []
    for path in sorted(folder.glob("*/scene*.xml")):
        try:
            mujoco.MjModel.from_xml_path(str(path))
        except ValueError:
            continue
        found.append(path)
    return found


if __name__ == "__main__":
    names = sys.argv[2:]
    print("| scene | difference | spread | told at saving |\n|---|---:|---:|---|")
    for one in scenes(Path(sys.argv[1])):
        if not names or any(name in str(one) for name in names):
            row = compared(one)
            print(
                f"| {row.name} | {row.difference:.1e} | {row.spread:.1e} | {row.verdict}: {' '.join(row.told)} |",
                flush=True,
            )
