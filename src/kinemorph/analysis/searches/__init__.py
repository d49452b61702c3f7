"""Searches for the least cost under conditions, by SciPy's optimizers: what is searched is a problem as data.

conditions          limits of costs and conditions, as users give them
named_laws          texts with names of signals, as laws of a plant
problem             `Problem`: cost and conditions as functions of unknowns, with slopes
local_search        from one start along exact slopes, by SLSQP
population_search   many points at once without slopes, by differential evolution or at random
"""
