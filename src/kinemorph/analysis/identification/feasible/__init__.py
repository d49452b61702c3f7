"""Parameters of real bodies that fit measured forces best: one convex problem, solved in two independent ways.

problem                the problem: least squares and log-det terms under equalities and linear matrix inequalities
statement              the problem of a robot: pseudo-inertias, prior, known values, mirrored limbs, shapes
conditions             equalities of mirrored limbs, and matrices that say that a center of mass is inside a shape
gauss_newton           the solver of the core: Newton's method on log-Cholesky factors
feasible_parameters    `feasible_parameters`: states the problem, solves it, and says how well
"""
