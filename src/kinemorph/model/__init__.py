"""The description of a robot: frozen data that is checked once, without equations.

body, joint, shapes    the parts of a robot; `meshes` reads mesh files
robot                  a robot: bodies, joints, loops, frames, couplings, gravity
system                 a robot with elements and settings
sheets/                what robots, assemblies and module types have to show
parameter              named numbers with nominal values, and formulas of them
units, expressions     numbers given as text: "5 mm", "m1 * l1**2 / 12"
topology               trees, cycles, paths and matrices of the graph of bodies
configuration          integration and differences of configurations q
couplings              joints that follow other joints
input_reader           checks raw input and records every problem in it
building/              the builder of robots and its rules
changes/               functions that return a changed robot: merged, re-rooted, with rotors
elements/              the data of elements, which act on a robot: springs, motors, sensors
modules/               modules that dock, and the robots that they make up
conventions/           the conventions of Kinemorph, and conversions to those of other libraries
library/               ready-made robots
"""
