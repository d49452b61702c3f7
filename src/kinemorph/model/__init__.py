"""What the robot is: frozen data, checked once, no equations.

parameter      named numbers with nominal values, and formulas of them
shapes, body   rigid bodies and how they look
joint          the table of joint kinds, and the data of one joint
robot          the whole: bodies, joints, loops, frames, couplings, gravity
builder        the strict builder; reading, checks and regularity hold its rules
topology       trees, cycles, paths, matrices of the graph of bodies
configuration  the manifold on which q lives
rerooting      the same robot described from another base
system         a robot with elements and settings
library        ready-made robots, one line each
"""
