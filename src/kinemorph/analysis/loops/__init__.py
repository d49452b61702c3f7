"""Closed chains and inverse kinematics: configurations that satisfy constraints.

close_loops         a closed configuration near a given one; following a motion with loops closed
closed_configurations      all closed configurations of a robot with loops
closure_sets        sets of loops that can be closed independently, and how each closes
planar_equations    planar loops as complex equations
planar_solutions    all solutions of planar loops, by elimination
mobility            degrees of freedom, redundant constraints, singular configurations
inverse_kinematics  the configuration that puts frames where they are wanted
constraint_rows     constraint equations scaled to one unit, with the part that each belongs to
named_coordinates   configurations and joints by name, as a user gives them
ranges              which configurations are allowed: limits, couplings, unit quaternions
levenberg           Levenberg-Marquardt steps on a manifold, within limits
"""
