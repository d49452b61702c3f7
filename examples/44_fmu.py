"""A functional mock-up unit (FMU): an arm with its motor and its sampled PID in one file, for other simulation tools.

    python examples/44_fmu.py [folder]

The arm lifts a load, and loses half of it on the way: the load is a parameter that is tuned between two steps. FMPy
runs the FMU (`pip install fmpy`); where it is missing, the class `Loaded` does, which shows what such a tool does.
"""

import ctypes
import os
import shutil
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

import kinemorph
from kinemorph import Body, Parameter, RobotBuilder, System, elements
from kinemorph.display.canvas import INK, PALETTE, blank, save
from kinemorph.programs import make_job, write_program

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out") / "44_fmu"
DROP, END, STEP = 0.8, 2.0, 0.01  # s
LOADS = (0.6, 0.3)  # kg, before and after

builder = RobotBuilder("lifter").add(Body.rod("arm", 0.5, 0.4, center=(0.0, 0.0, -0.2)))
builder.add(Body.point("load", Parameter("load", LOADS[0], unit="kg")))
builder.joint("elbow", "revolute", "world", "arm", axis=(0.0, -1.0, 0.0))
robot = builder.joint("tip", "fixed", "arm", "load", translation=(0.0, 0.0, -0.4)).build()
motor = elements.DCMotor(
    "motor", "elbow", 2.4, 0.0235, 0.0235, inductance=1e-3, inertia=1.05e-6, ratio=66.0, voltage_limit=12.0
)
control = elements.PID(
    "pid", reads="q.elbow", drives="motor", reference=np.pi / 2, kp=40.0, ki=60.0, kd=4.0, filter=0.01,
    lower=-12.0, upper=12.0, anti_windup="clamp", every=0.002,
)  # fmt: skip
system = System(robot, (control, motor))
job = make_job(system, END, output_step=STEP, rtol=1e-10, parameters=["load"])

if not shutil.which(os.environ.get("CC", "cc").split()[0]) and find_spec("ziglang") is None:
    sys.exit("This example needs a C compiler, `cc`, or zig: pip install kinemorph[fmu]")
(file,) = write_program(job, "fmu3", folder / "lifter.fmu", systems="this")
with zipfile.ZipFile(file) as archive:
    archive.extractall(folder / "unpacked")
root = ElementTree.parse(folder / "unpacked" / "modelDescription.xml").getroot()
references = {one.get("name"): int(one.get("valueReference")) for one in root.iter("Float64")}
name, token = root.find("CoSimulation").get("modelIdentifier"), root.get("instantiationToken")
print(f"{file.name}: {file.stat().st_size / 1024:.0f} kB, {len(references)} variables, token {token}")


class Loaded:
    """An instance of the FMU for co-simulation, by the functions of FMI 3.0 that a run needs."""

    def __init__(self) -> None:
        (library,) = (folder / "unpacked" / "binaries").glob("*/*")
        self.functions = ctypes.CDLL(str(library.resolve()))
        self.functions.fmi3InstantiateCoSimulation.restype = ctypes.c_void_p
        words = (b"arm", token.encode(), None)
        made = self.functions.fmi3InstantiateCoSimulation(
            *words, *[False] * 4, None, ctypes.c_size_t(0), None, None, None
        )
        self.instance = ctypes.c_void_p(made)

    def call(self, function: str, *values: object) -> None:
        """Calls a function by its name; numbers in Python are double precision in C."""
        given = [ctypes.c_double(value) if isinstance(value, float) else value for value in values]
        if getattr(self.functions, function)(self.instance, *given) != 0:
            raise RuntimeError(f"{function} has failed")

    def enterInitializationMode(self) -> None:
        self.call("fmi3EnterInitializationMode", False, 0.0, 0.0, False, 0.0)

    def exitInitializationMode(self) -> None:
        self.call("fmi3ExitInitializationMode")

    def getFloat64(self, chosen: list[int]) -> list[float]:
        n, found = ctypes.c_size_t(len(chosen)), (ctypes.c_double * len(chosen))()
        self.call("fmi3GetFloat64", (ctypes.c_uint32 * len(chosen))(*chosen), n, found, n)
        return list(found)

    def setFloat64(self, chosen: list[int], values: list[float]) -> None:
        n, given = ctypes.c_size_t(len(chosen)), (ctypes.c_double * len(values))(*values)
        self.call("fmi3SetFloat64", (ctypes.c_uint32 * len(chosen))(*chosen), n, given, n)

    def doStep(self, t: float, h: float) -> None:
        flags, last = [ctypes.byref(ctypes.c_bool()) for _ in range(3)], ctypes.c_double()
        self.call("fmi3DoStep", t, h, True, *flags, ctypes.byref(last))


if find_spec("fmpy"):
    from fmpy.fmi3 import FMU3Slave

    fmu = FMU3Slave(guid=token, unzipDirectory=str(folder / "unpacked"), modelIdentifier=name)
    fmu.instantiate()
else:
    fmu = Loaded()

# the master: steps of 10 ms, and half of the load is gone at 0.8 s
columns = [references[column] for column in ("q.elbow", "y.motor.voltage", "y.motor.torque")]
fmu.enterInitializationMode()
fmu.exitInitializationMode()
rows = [fmu.getFloat64(columns)]
for k in range(round(END / STEP)):
    if k == round(DROP / STEP):
        fmu.setFloat64([references["p.load"]], [LOADS[1]])
    fmu.doStep(k * STEP, STEP)
    rows.append(fmu.getFloat64(columns))
found, t = np.array(rows), np.arange(len(rows)) * STEP

# the same by simulate: the second run continues the first one with the other load
plant = kinemorph.plants.plant(system, parameters=["load"], account=True)
first = kinemorph.simulate(plant, DROP, output_step=STEP, rtol=1e-10, p={"load": LOADS[0]})
second = kinemorph.simulate(
    plant, END, start=DROP, q=first.q[-1], v=first.v[-1], x=first.x[-1], m=first.segments[-1].m[-1],
    output_step=STEP, rtol=1e-10, p={"load": LOADS[1]},
)  # fmt: skip
wanted = np.concatenate([first.q[:, 0], second.q[1:, 0]])
off = np.abs(found[:, 0] - wanted).max()
print(f"{len(rows) - 1} steps by {type(fmu).__name__}, off `simulate` by {off:.1e} rad")
assert off < 1e-8

picture = blank(7.4, 5.2)
upper, lower = picture.subplots(2, 1, sharex=True)
upper.plot(t, np.degrees(found[:, 0]), color=PALETTE[0], linewidth=2.5, label="FMU")
upper.plot(t[::10], np.degrees(wanted[::10]), ".", color=INK, markersize=5, label="simulate")
upper.axvline(DROP, color=INK, linewidth=0.8, linestyle=":")
upper.set(ylabel="elbow [deg]", title="An arm loses half of its load, in an FMU")
upper.legend(frameon=False)
lower.plot(t, found[:, 1], color=PALETTE[1], linewidth=1.5)
lower.axvline(DROP, color=INK, linewidth=0.8, linestyle=":")
lower.set(xlabel="time [s]", ylabel="motor [V]")
for axes in (upper, lower):
    axes.grid(alpha=0.3)
print("wrote", save(picture, folder.parent / "44_fmu.png"))
