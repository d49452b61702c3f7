"""Motion under constraints: closed chains, coupled joints, constraint rows of elements.

closures             closed chains and coupled joints as constraint equations on the open tree
constrained          the accelerations, velocities or displacements nearest to unconstrained ones that satisfy rows
reduced_dynamics     closed chains in independent velocities
actuation            inverse dynamics with actuators at some joints
reactions            the wrench that every joint transmits
wrench_views         the frame in which such a wrench is given, and its parts: actuation and constraint
independent_columns  linearly independent columns of a matrix
newton_closing       a closed configuration near a given one, by Newton's method
"""
