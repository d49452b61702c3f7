"""Motions that repeat: periodic orbits, their stability and branches, bifurcation diagrams and basins of attraction.

return_map           the protocol of return maps; maps that are given as a formula or a function
section              independent coordinates of the states of a plant on a section
flow_piece           the motion of a plant from one section to the next, with exact slopes
flow_map             `return_map`: the return map of a robot or a plant
shooting             the equations of a cycle, and Newton's method
periodic_orbit       `periodic_orbit`: orbits and Floquet multipliers
continuation         `continuation`: a branch of orbits along a parameter, with its special points
branch_points        where orbits change: test functions, and their zeros along a branch
bifurcation_diagram  `bifurcation_diagram`: where the motion settles, for many values of a parameter
basin                `basin`: which attractor each of many starts reaches
"""
