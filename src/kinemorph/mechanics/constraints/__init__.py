"""Motion under constraints: closed chains, coupled joints, rows of elements.

closures             closed chains and coupled joints as constraint equations on the open tree
constrained          accelerations, velocities and displacements nearest to free ones that satisfy constraints
reduced_dynamics     closed chains in independent velocities
actuation            inverse dynamics with actuators at some joints
reactions            the wrench that passes through every joint
independent_columns  columns of a matrix that do not depend on each other
newton_closing       a closed configuration near a given one, by Newton's method
"""
