"""The model in your own C program: a Puma as model.c and model.h, with a controller, and how accurately it moves.

    python examples/05_model_in_c.py [folder]

The C program, 05_model_in_c.c, moves the arm twice: once with constant inertias in the controller, once with the
inverse dynamics. If this computer has a C compiler, the program is built and run, and its results are compared with
those of Python.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

import kinemorph
from kinemorph.codegen.backends.c.export import export_c
from kinemorph.display.canvas import PALETTE, blank, save

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out") / "05_model_in_c"
folder.mkdir(parents=True, exist_ok=True)

# the model as C: one function for each program, with the math library as the only dependency
robot = kinemorph.library.puma()
dynamics = kinemorph.derive(robot)
functions = [dynamics.mass_matrix, dynamics.gravity_forces, dynamics.inverse_dynamics, dynamics.forward_dynamics]
for name, text in export_c([function.program for function in functions], "model").items():
    (folder / name).write_text(text)
    print("wrote", folder / name, f"({len(text.splitlines())} lines)")
shutil.copy(Path(__file__).with_suffix(".c"), folder / "main.c")

# build it and run it
compiler = os.environ.get("CC", "cc").split()
command = [*compiler, "-O2", "-std=c99", "-Wall", "-Wextra", "main.c", "model.c", "-lm", "-o", "main"]
print(*command)
if shutil.which(compiler[0]) is None:
    print(f"no C compiler '{compiler[0]}' on this computer: the files can be compiled elsewhere")
    picture = kinemorph.draw(robot, title="the arm in model.c")
else:
    subprocess.run(command, cwd=folder, check=True)
    printed = subprocess.run([folder.resolve() / "main"], capture_output=True, text=True, check=True).stdout
    rows = np.array([line.split() for line in printed.splitlines()], dtype=float)
    controller, t = rows[:, 0], rows[:, 1]
    wanted, q, v, tau, a = np.split(rows[:, 2:], 5, axis=1)

    # the same numbers from Python
    for name, ours, theirs in (
        ("forward dynamics", dynamics.forward_dynamics(q, v, tau), a),
        ("inverse dynamics", dynamics.inverse_dynamics(q, v, a), tau),
    ):
        difference = np.abs(ours - theirs).max() / np.abs(theirs).max()
        print(f"{name}: Python and C differ by at most {difference:.1e} of the largest value")
        assert difference < 1e-13

    # how far each controller is from the reference
    picture = blank(7.4, 5.2)
    axes = picture.add_subplot()
    for number, label in enumerate(("constant inertias and gravity", "inverse dynamics")):
        error = 1e3 * np.abs(q - wanted)[controller == number].max(axis=1)
        print(f"{label}: at most {error.max():.2f} mrad from the reference")
        axes.semilogy(t[controller == number], error + 1e-6, color=PALETTE[number], linewidth=2.5, label=label)
    axes.axvspan(1.0, 1.5, color="#e4e8ec", label="the reference stands still")
    axes.set(xlabel="time [s]", ylabel="largest joint error [mrad]", title="Puma, controlled and simulated in C")
    axes.set_xlim(0.0, 1.5)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
print("wrote", save(picture, folder.parent / "05_model_in_c.png"))
