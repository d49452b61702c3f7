"""Gaits: periodic motions that cost least, libraries of them, and gaits that are so slow that they are static.

collocation     motions over given times by Gauss collocation, many at once, with exact slopes
gait_problem    a gait as a problem of optimization: unknowns, cost and conditions, with exact slopes
gait_start      where the search begins: the edges of a cycle, a first guess of the motion
gait            `Gait`: the result
optimize_gait   `optimize_gait`
gait_library    `gait_library`: gaits by speed, saved and interpolated
static_gait     `static_gait`: equilibria along a prescribed motion, with torques, foot loads and margins
"""
