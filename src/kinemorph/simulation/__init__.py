"""Simulation: the only part of the package that advances the time t.

simulate, simulate_batch   one run, and many runs at once
prepared      what all runs begin with: their options, resolved and checked once
running/      carrying out a run: boundaries, events, docking, failures
stepping/     a plant at one state, which can be advanced; the options of steps
march/        the loop program that carries a plant from sample to sample, for every method
integrators/  the methods as data, and how each family takes one step
foreign/      methods of other libraries, behind the interface of `stepping`
docking/      modules that dock and undock: the events, and the plant of each topology
results/      trajectories: samples, events, columns by name
files/        saving and loading runs
"""
