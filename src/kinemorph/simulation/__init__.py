"""What happens: the only room that advances t.

simulate, simulate_batch   one run, and many runs at once
running/      a run carried out: boundaries, events, docking, failures
stepping/     a plant at one state, which can be advanced
march/        the loop program that carries a plant from sample to sample, for every method
integrators/  the methods as data, and how each family takes one step
foreign/      methods of other libraries behind the same interface
docking/      modules that dock and undock: the events, and the plants of each topology
results/      what a run gives
files/        runs saved and loaded
"""
