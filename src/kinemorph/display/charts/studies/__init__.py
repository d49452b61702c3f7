"""Pictures of studies: what was varied, what was measured, how sure it is, and what it depends on.

plot_study            the picture of a study, of a Monte Carlo result or of sensitivities, by its kind
plotted_items         the items of a study as pictures need them, and parts as axes
response_maps         a measure over two parts: cells of a grid, Voronoi cells, rows of choices, or dots
response_curves       measures over one part
parallel_lines        parallel coordinates: one axis for each part, one line for each item
convergence_plots     the best item so far, or the mean and its confidence interval, over the number of items
histograms            the distribution of a measure with its quantiles
sensitivity_plots     Sobol indices as bars, Morris' elementary effects as a plane
frames                the paper of these pictures: title, caption, axes, color bar
"""
