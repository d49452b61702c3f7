"""Plots and diagrams in two dimensions.

plot              columns of a run over time
batch_bands       many runs of a batch: lines, or bands of quantiles
plot_phase        velocity over position
plot_poles        poles in the complex plane
plot_clusters     clusters of coupled maps
work_precision    error against cost, for several methods
figures           mass matrix, operation counts, tree of a robot
draw_plan         an assembly of modules from above
draw_modules      the graph of an assembly
draw_phases       the graph of a hybrid automaton
graph_pictures    expression graphs of programs; `graph_layout` places their nodes
excitation_plots  exciting motions: shares of limits, and random series beside them
crawl_pictures    the path of an organism, its joint angles and torques
runs, event_marks the names and line styles of runs, and their events, in plots
"""
