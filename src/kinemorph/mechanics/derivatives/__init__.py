"""Derivatives of the dynamics in closed form.

inverse_derivatives   derivatives of inverse dynamics, from pairs of axes
forward_derivatives   derivatives of forward dynamics
axis_responses        how motion along each joint axis changes the loads
axis_arrays           these changes as arrays with one column per axis
branch_factor         the mass matrix factored along the branches, without fill-in
"""
