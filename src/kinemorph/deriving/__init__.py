"""Where mechanics joins codegen: from a robot to compiled functions.

dynamics                `derive`, and the `Dynamics` that it returns
making                  `Maker`: how a law of mechanics becomes a compiled function
chosen_functions        functions chosen by words, as of one frame: the function itself, or its value at a state
body_functions          functions of all bodies, links or joints at once
graph_programs          the matrices of the kinematic graph, as programs to print
reduction               closed chains in independent velocities
impact_functions        the impact of points of a robot on the ground
actuation               inverse dynamics with actuators at some joints only
independent_velocities  which velocities are independent, and which depend on them
pair_loops              mass matrix and derivatives of large robots: loops over pairs of joint axes
column_loops            derivatives of forward dynamics of large robots: loops over columns
limb_lanes              robots with similar limbs: one limb is traced, all limbs run side by side
function_names          the names of the functions, as `kinemorph derive` lists them
"""
