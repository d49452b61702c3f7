"""`optimize`: parameters of a system that cost least, at an equilibrium, in a run or in a gait.

unknowns          what is chosen, with its range, and scaled for a search
measures          the cost and the conditions of one design, as laws of a plant or functions of a result
equilibria        designs measured at their equilibria, with exact slopes by the implicit rule
runs              designs measured at the ends of runs, a population of them as one batch
design_problem    the cost and the conditions as a problem of a search
optimized         `Optimized`: the result
optimize          `optimize`
"""
