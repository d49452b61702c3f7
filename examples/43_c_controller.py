"""The C of a microcontroller drives a motor: in simulate, and in a program in C that takes the same steps.

    python examples/43_c_controller.py [folder]

The source is 43_c_controller.c, with the function that the firmware calls every 2 ms. It needs a C compiler.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

import kinemorph
from kinemorph import Body, RobotBuilder, System, elements
from kinemorph.display.canvas import INK, PALETTE, blank, save
from kinemorph.programs import make_job, write_program

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out") / "43_c_controller"
compiler = os.environ.get("CC", "cc").split()
if not shutil.which(compiler[0]):
    print(f"There is no C compiler '{compiler[0]}'. Install one, or name it in the environment variable CC.")
    sys.exit()

# an arm with a load, and a motor with a gearbox
builder = RobotBuilder("arm").add(Body.rod("arm", 0.5, 0.4, center=(0.0, 0.0, -0.2)))
builder.add(Body.point("load", 0.3)).joint("elbow", "revolute", "world", "arm", axis=(0.0, -1.0, 0.0))
robot = builder.joint("tip", "fixed", "arm", "load", translation=(0.0, 0.0, -0.4)).build()
motor = elements.DCMotor(
    "motor", "elbow", 2.4, 0.0235, 0.0235, inductance=1e-3, inertia=1.05e-6, ratio=66.0, voltage_limit=12.0
)
goal = elements.Setpoint("goal", np.pi / 2)

# its control: the source of the microcontroller, and the element PID with the same numbers
firmware = elements.CController(
    "control", Path(__file__).with_suffix(".c"), "position_control", reads=("q.elbow", "goal"), drives="motor",
    every=0.002, memory=("integral", "before", "slope", "begun"),
)  # fmt: skip
pid = elements.PID(
    "control", reads="q.elbow", drives="motor", reference="goal", kp=40.0, ki=60.0, kd=4.0, filter=0.01,
    lower=-12.0, upper=12.0, anti_windup="clamp", every=0.002,
)  # fmt: skip
system = System(robot, (goal, firmware, motor))
run = kinemorph.simulate(system, 1.5, output_step=0.01)
own = kinemorph.simulate(System(robot, (goal, pid, motor)), 1.5, output_step=0.01)
off = np.abs(run.q - own.q).max()
print(f"the C in simulate is off the element PID by {off:.1e} rad")
assert off < 1e-12

# a program in C takes the source along as it is
files = write_program(make_job(system, 1.5, output_step=0.01), "c", folder)
sources = sorted(path.name for path in folder.glob("*.c"))
subprocess.run([*compiler, "-O2", "-std=c99", *sources, "-lm", "-o", "arm"], cwd=folder, check=True)
program = [str(folder.resolve() / "arm"), "--quiet", "--output", str(folder / "run.csv")]
subprocess.run(program, check=True)
rows = np.loadtxt(folder / "run.csv", delimiter=",", skiprows=1)
off = np.abs(rows[:, 1] - run.q[:, 0]).max()
print(f"the program, which has {len(files)} files, is off simulate by {off:.1e} rad")
assert off < 1e-12

picture = blank(7.4, 6.0)
angle, voltage = picture.subplots(2, 1, sharex=True)
angle.plot(run.t, np.degrees(run["q.elbow"]), color=PALETTE[0], linewidth=2.5, label="C in simulate")
angle.plot(rows[::10, 0], np.degrees(rows[::10, 1]), ".", color=INK, markersize=6, label="C in a program")
angle.axhline(90.0, color=INK, linewidth=0.8, linestyle=":")
angle.set(ylabel="elbow [deg]", title="One source in C drives a motor, in simulate and in a program")
voltage.step(run.t, run["control"], where="post", color=PALETTE[1], linewidth=2.0)
voltage.set(xlabel="time [s]", ylabel="voltage [V]")
for axes in (angle, voltage):
    axes.grid(alpha=0.3)
angle.legend(frameon=False)
print("wrote", save(picture, folder.parent / "43_c_controller.png"))
