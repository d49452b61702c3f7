"""Statistics of measures: plain functions of arrays, which know nothing of stores and runs.

intervals      confidence intervals of means, probabilities and quantiles
stages         how many items a stated error needs, and when to look at them without losing confidence
sobol          designs after Saltelli and the Sobol indices of their measures
morris         trajectories after Morris and their elementary effects
"""
