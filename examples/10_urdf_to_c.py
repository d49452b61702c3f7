"""From a URDF to C: the file is loaded and checked, its equations are derived and exported, and the C code is used.

    python examples/10_urdf_to_c.py [folder]

The arm of 10_urdf_to_c.urdf picks something up and puts it down. If this computer has a C compiler, the
exported code computes the torques of that move, which are compared with those of Python and with the limits of the
drives.
"""

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

import kinemorph
from kinemorph.codegen.backends.c.export import export_c
from kinemorph.display.canvas import PALETTE, blank, save

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out") / "10_urdf_to_c"
folder.mkdir(parents=True, exist_ok=True)
model = Path(__file__).with_suffix(".urdf")

# load: all errors of a file are reported at once, each with its line and a remedy; this file has none
examination = kinemorph.examine(model)
print(f"{model.name}: {len(examination.errors)} errors, {len(examination.warnings)} warnings")
broken = folder / "broken.urdf"
broken.write_text(model.read_text().replace('<mass value="0.9"/>', '<mass value="0,9"/>'))
for finding in kinemorph.examine(broken).findings:
    print(f"with a typing error: line {finding.line}: {finding.element}: {finding.problem}. {finding.remedy}")

# check: formulations agree, M is positive definite, forward dynamics undoes inverse dynamics, ...
robot = kinemorph.load(model).robot
dynamics = kinemorph.derive(robot)
verdict = kinemorph.verify(dynamics)
print(verdict)
assert verdict.passed

# export: the inverse dynamics as C
for name, text in export_c([dynamics.inverse_dynamics.program], "desk_arm").items():
    (folder / name).write_text(text)
    print("wrote", folder / name, f"({len(text.splitlines())} lines)")

# a move from one side to the other and back, smooth in velocity
pick, place = np.array([-1.2, 1.0, 1.1, 0.9]), np.array([1.2, 0.7, 1.5, 0.8])
t = np.linspace(0.0, 1.6, 401)
phase = np.pi * t / 0.8
share, rate, acceleration = 0.5 * (1 - np.cos(phase)), 0.5 * np.sin(phase), 0.5 * np.cos(phase)
q = pick + share[:, None] * (place - pick)
v = rate[:, None] * (place - pick) * (np.pi / 0.8)
a = acceleration[:, None] * (place - pick) * (np.pi / 0.8) ** 2
tau = dynamics.inverse_dynamics(q, v, a)

compiler = os.environ.get("CC", "cc").split()
if shutil.which(compiler[0]) is None:
    print(f"no C compiler '{compiler[0]}' on this computer: the torques are those of Python")
else:
    library = folder / "desk_arm.so"
    command = [*compiler, "-O2", "-std=c99", "-shared", "-fPIC", "desk_arm.c", "-lm", "-o", library.name]
    subprocess.run(command, cwd=folder, check=True)
    function = ctypes.CDLL(str(library.resolve())).desk_arm_inverse_dynamics
    vector = np.ctypeslib.ndpointer(float, flags="C")
    function.argtypes, function.restype = [vector] * 4, None
    torques = np.zeros_like(tau)
    for row in range(len(t)):
        function(q[row], v[row], a[row], torques[row])
    difference = np.abs(torques - tau).max()
    print(f"C and Python differ by at most {difference:.1e} N m")
    assert difference < 1e-12
    tau = torques

# the effort limits of the drives that the file gives
limits = np.array([joint.effort[0] for joint in robot.joints if joint.nv])
for name, most, limit in zip(robot.v_names, np.abs(tau).max(axis=0), limits, strict=True):
    print(f"{name}: at most {most:.2f} of {limit:g} N m")

title = "the arm at pick, and (pale) on the path to place"
picture = kinemorph.draw(robot, pick, ghosts=[q[100], place], frames=["tool"], camera=(24.0, 8.0), title=title)
print("wrote", save(picture, folder.parent / "10_arm.png"))
picture = blank(7.4, 4.4)
axes = picture.add_subplot()
for column, (name, limit) in enumerate(zip(robot.v_names, limits, strict=True)):
    axes.plot(t, 100 * np.abs(tau[:, column]) / limit, color=PALETTE[column], linewidth=2.5, label=name)
axes.axhline(100, color="#9aa3ab", linestyle="--", linewidth=1.5)
axes.text(0.01, 101.5, "limit of the drive", color="#5b646c")
axes.set(xlabel="time [s]", ylabel="torque [% of the drive]", title="pick and place, by the exported C code")
axes.set_xlim(0.0, t[-1])
axes.set_ylim(0.0, 125.0)
axes.grid(alpha=0.3)
axes.legend(frameon=False, loc="upper center", ncol=4)
print("wrote", save(picture, folder.parent / "10_torques.png"))
