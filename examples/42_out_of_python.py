"""A whole program in C: an arm with a motor and a sampled PID leaves Python, and lifts three loads.

    python examples/42_out_of_python.py [folder]

The program has the load as a parameter, so that it is compiled once and run three times. Without a C compiler, the same
job is written and run as a program in Python, which needs only NumPy.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

import kinemorph
from kinemorph import Body, Parameter, RobotBuilder, System, elements
from kinemorph.display.canvas import INK, PALETTE, blank, save
from kinemorph.programs import make_job, write_program

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out") / "42_out_of_python"
LOADS = (0.0, 0.3, 0.6)  # kg

# an arm with a load at its tip, a motor with a gearbox, and a PID that samples every 2 ms
builder = RobotBuilder("lifter").add(Body.rod("arm", 0.5, 0.4, center=(0.0, 0.0, -0.2)))
builder.add(Body.point("load", Parameter("load", 0.3, unit="kg")))
builder.joint("elbow", "revolute", "world", "arm", axis=(0.0, -1.0, 0.0))
robot = builder.joint("tip", "fixed", "arm", "load", translation=(0.0, 0.0, -0.4)).build()
motor = elements.DCMotor(
    "motor", "elbow", 2.4, 0.0235, 0.0235, inductance=1e-3, inertia=1.05e-6, ratio=66.0, voltage_limit=12.0
)
goal = elements.Setpoint("goal", np.pi / 2)
control = elements.PID(
    "pid", reads="q.elbow", drives="motor", reference="goal", kp=40.0, ki=60.0, kd=4.0, filter=0.01,
    lower=-12.0, upper=12.0, anti_windup="clamp", every=0.002,
)  # fmt: skip
system = System(robot, (goal, control, motor))

# the program: the same arguments as for simulate, and the parameters that stay inputs
job = make_job(system, 1.5, output_step=0.01, parameters=["load"])
compiler = os.environ.get("CC", "cc").split()
target = "c" if shutil.which(compiler[0]) else "python"
files = write_program(job, target, folder)
print(f"{len(files)} files in {target}, {sum(len(path.read_text().splitlines()) for path in files)} lines")
if target == "c":
    sources = [path.name for path in files if path.suffix == ".c"]
    subprocess.run([*compiler, "-O2", "-std=c99", *sources, "-lm", "-o", "lifter"], cwd=folder, check=True)
    command = [str(folder.resolve() / "lifter")]
else:
    command = [sys.executable, str(folder / "lifter.py")]

picture = blank(7.4, 5.2)
axes = picture.add_subplot()
for k, load in enumerate(LOADS):
    file = folder / f"load_{k}.csv"
    done = subprocess.run(
        [*command, "--set", f"p.load={load}", "--output", str(file)], capture_output=True, text=True, check=True
    )
    rows = np.loadtxt(file, delimiter=",", skiprows=1)
    plant = kinemorph.plants.plant(system, parameters=["load"], account=True)
    run = kinemorph.simulate(plant, 1.5, output_step=0.01, p={"load": load})
    off = np.abs(rows[:, 1] - run.q[:, 0]).max()
    print(f"load {load} kg: {done.stderr.strip()} Off `simulate` by {off:.1e} rad")
    assert off < 1e-9
    axes.plot(rows[:, 0], np.degrees(rows[:, 1]), color=PALETTE[k], linewidth=2.5, label=f"{load:g} kg")
    axes.plot(run.t[::10], np.degrees(run.q[::10, 0]), ".", color=INK, markersize=5)
axes.plot([], [], ".", color=INK, label="simulate")
axes.axhline(90.0, color=INK, linewidth=0.8, linestyle=":")
axes.set(xlabel="time [s]", ylabel="elbow [deg]", title="An arm lifts loads, in a program without Python")
axes.grid(alpha=0.3)
axes.legend(frameon=False)
print("wrote", save(picture, folder.parent / "42_out_of_python.png"))
