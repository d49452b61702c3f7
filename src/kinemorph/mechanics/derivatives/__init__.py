"""Derivatives of the dynamics in closed form.

inverse_derivatives   derivatives of inverse dynamics, from pairs of axes
forward_derivatives   derivatives of forward dynamics
axis_responses        what motion along every joint axis does to the loads
axis_arrays           the same as arrays over all axes
branch_factor         the mass matrix factored along the branches, with nothing filled in
"""
