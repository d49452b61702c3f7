"""Panda as two FMUs for co-simulation by FMI 2.0: ours, and one of PythonFMU around Pinocchio's ABA with RK4.

Both fall from the same configuration, with steps of RK4 of 1 ms. A master in C (fmu_master.c) loads the library of one
of them and steps it; times are CPU times of all calls of doStep.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import xml.etree.ElementTree as ElementTree
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.bench.peers.robots import bench_twin, robot_file
from kinemorph.bench.programs.processes import linked
from kinemorph.errors import CompileError, MissingExtraError
from kinemorph.programs.job import make_job
from kinemorph.programs.program_files import write_program

MASTER = Path(__file__).parent / "fmu_master.c"
STEP = 0.001  # [s]
START = (0.0, 0.3, 0.0, -1.5, 0.0, 1.8, 0.4)  # [rad]
FINGERS = ("panda_finger_joint1", "panda_finger_joint2")
SLAVE = """
from pathlib import Path

import numpy as np
import pinocchio as pin
from pythonfmu import Fmi2Causality, Fmi2Slave, Real

class Panda(Fmi2Slave):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        whole = pin.buildModelFromUrdf(str(Path(self.resources) / {urdf!r}))
        fingers = [whole.getJointId(name) for name in {fingers!r}]
        self.model = pin.buildReducedModel(whole, fingers, pin.neutral(whole))
        self.data = self.model.createData()
        self.tau = np.zeros(7)
        for k, angle in enumerate({start!r}):
            setattr(self, f"q{{k}}", angle)
            setattr(self, f"v{{k}}", 0.0)
            self.register_variable(Real(f"q{{k}}", causality=Fmi2Causality.output))
        self.q, self.v = np.array({start!r}), np.zeros(7)

    def do_step(self, current_time, h):
        aba, model, data, tau, q, v = pin.aba, self.model, self.data, self.tau, self.q, self.v
        a1 = aba(model, data, q, v, tau).copy()
        v2 = v + 0.5 * h * a1
        a2 = aba(model, data, q + 0.5 * h * v, v2, tau).copy()
        v3 = v + 0.5 * h * a2
        a3 = aba(model, data, q + 0.5 * h * v2, v3, tau).copy()
        v4 = v + h * a3
        a4 = aba(model, data, q + h * v3, v4, tau)
        self.q = q + h / 6.0 * (v + 2.0 * v2 + 2.0 * v3 + v4)
        self.v = v + h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
        for k in range(7):
            setattr(self, f"q{{k}}", float(self.q[k]))
        return True
"""


class Unpacked(NamedTuple):
    """An FMU in a folder: its library, its GUID, the address of its resources, the references of the angles.

    `environment` are variables that a process needs to load its library.
    """

    library: Path
    guid: str
    resources: str
    references: tuple[str, ...]
    environment: Mapping[str, str] = {}


def our_fmu(folder: Path) -> Unpacked:
    """Panda as our FMU."""
    robot = bench_twin("panda").robot
    job = make_job(robot, 10.0, q=START, method="rk4", step=STEP, inputs=np.zeros(robot.nv))
    (path,) = write_program(job, "fmu2", folder / "ours", systems="this")
    names = [f"q.{column.name}" for column in job.plant.q]
    return unpacked(path, folder / "ours" / "unpacked", names)


def python_fmu(folder: Path) -> Unpacked:
    """Panda as an FMU of PythonFMU around Pinocchio. Raises MissingExtraError where PythonFMU is not installed."""
    try:
        from pythonfmu.builder import FmuBuilder
    except ImportError as error:
        raise MissingExtraError("pythonfmu") from error
    urdf = robot_file("panda_description/urdf/panda.urdf")
    script = folder / "panda_slave.py"
    script.write_text(SLAVE.format(urdf=urdf.name, fingers=FINGERS, start=START))
    path = FmuBuilder.build_FMU(script, dest=folder, project_files=[urdf])
    return unpacked(Path(path), folder / "theirs", [f"q{k}" for k in range(7)])._replace(environment=_with_python())


def _with_python() -> dict[str, str]:
    """The variables with which a process that has no Python finds this one: its library, its home and its packages."""
    library = Path(sysconfig.get_config_var("LIBDIR")) / sysconfig.get_config_var("LDLIBRARY")
    if library.suffix != ".so":
        raise MissingExtraError("pythonfmu")
    return {"LD_PRELOAD": str(library), "PYTHONHOME": sys.base_prefix, "PYTHONPATH": os.pathsep.join(sys.path)}


def unpacked(path: Path, folder: Path, names: list[str]) -> Unpacked:
    """An FMU, unpacked into a folder, with the references of variables by name."""
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder)
    described = ElementTree.parse(folder / "modelDescription.xml").getroot()
    identifier = described.find("CoSimulation")
    assert identifier is not None
    references = {one.attrib["name"]: one.attrib["valueReference"] for one in described.iter("ScalarVariable")}
    library = folder / "binaries" / "linux64" / f"{identifier.attrib['modelIdentifier']}.so"
    chosen = tuple(references[name] for name in names)
    return Unpacked(library, described.attrib["guid"], (folder / "resources").as_uri(), chosen)


def built_master(folder: Path) -> Path:
    """The master in C, compiled in a folder."""
    (folder / MASTER.name).write_text(MASTER.read_text())
    return linked(folder, ["-O2", MASTER.name, "-ldl"], "fmu_master")


def stepped(master: Path, fmu: Unpacked, steps: int) -> tuple[float, Array]:
    """(CPU time [s] of a step, final angles (7,) [rad]) of an FMU that the master steps."""
    command = [str(master), str(fmu.library), fmu.guid, fmu.resources, str(steps), str(STEP), *fmu.references]
    environment = {**os.environ, **fmu.environment}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise CompileError(f"the FMU '{fmu.library.stem}' cannot be stepped: {done.stderr.strip()[-300:]}")
    time, *values = map(float, done.stdout.split())
    return time / steps, np.array(values)
