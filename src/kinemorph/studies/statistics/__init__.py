"""Statistical studies, and the statistics behind them.

monte_carlo      `monte_carlo`: estimates with confidence intervals
sensitivity      `sensitivity`: which parts matter, by Sobol indices or the elementary effects of Morris
plans            the options of both, as records
measured_items   items that a method draws, measured by sweeps
intervals        confidence intervals of means, probabilities and quantiles
stages           how many items a stated error needs, and when to look at them without losing confidence
sobol            designs after Saltelli and the Sobol indices of their measures
morris           trajectories after Morris and their elementary effects
"""
