"""Spaces: which values the items of a study get, as parts that vary and a design that combines them.

parts              what is varied: a range, values, choices
distributions      parts that are distributed, for Monte Carlo studies
conditions         parts that apply to some items only
grids              all combinations of the values of parts
designs            Sobol sequences, Latin hypercubes and random numbers: points of the unit cube
space_checks       what can be wrong with a space, as problems with a remedy
item_spaces        what all spaces have in common; listed items, and unions of spaces
space              `Space`: parts with a design
distinct           items that are equal are kept once
"""
