"""Parameters by simulated runs: recordings are compared with runs of the model.

output_error    `output_error`: parameters of robot and elements, so that runs match what was measured
least_squares   Gauss-Newton steps for parameters that all pieces share and initial states of each piece
transformations parameters as functions of unbounded variables, so that signs and bounds are kept
pieces          pieces of recordings: times, inputs, measured columns, and a first guess of the initial state
piece_runs      simulated runs of all pieces together, with their derivatives
outputs         measured columns of a run and their derivatives
fitted          `Fitted`: parameters with their deviations, what data leave open, and predictions
parametrized    models whose numbers are Parameters, by the names of regressor columns
instrumental    instruments by runs of the model, for `identify(..., method="instrumental")`
moments         `Moments`: sums of recordings and of simulated runs
"""
