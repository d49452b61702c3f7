"""Closed chains and inverse kinematics: configurations that satisfy constraints.

close_loops             a closed configuration near a given one; a motion to another one with loops closed
closed_configurations   all closed configurations of a robot with loops
closure_sets            sets of loops that can be closed independently, and the closed configurations of each
planar_equations        planar loops as complex equations
planar_solutions        all solutions of planar loops, by elimination
mobility                degrees of freedom, redundant constraint rows, singular configurations
inverse_kinematics      the configuration that brings frames to their targets
constraint_rows         constraint rows scaled to one unit, with the loop, joint or element that each belongs to
named_coordinates       configurations and joints by name, as a user gives them
ranges                  the allowed configurations: limits, couplings, unit quaternions
levenberg               Levenberg-Marquardt steps on a manifold, within limits
"""
