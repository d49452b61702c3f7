"""What the robot is: frozen data, checked once, no equations.

body, joint, shapes    the parts; `meshes` reads mesh files
robot                  the whole: bodies, joints, loops, frames, couplings, gravity
system                 a robot with elements and settings
parameter              named numbers with nominal values, and formulas of them
units, expressions     numbers as text: "5 mm", "m1 * l1**2 / 12"
topology               trees, cycles, paths, matrices of the graph of bodies
configuration          the manifold on which q lives
couplings              joints that follow other joints
input_reader           raw input to checked data, with every mistake noted
building/              the strict builder and its rules
changes/               a robot in, another one out: merged, re-rooted, with rotors
elements/              what acts on a robot, as data
modules/               modules that dock, and the robots that they make up
conventions/           ours, and those of other libraries
library/               ready-made robots, one line each
"""
