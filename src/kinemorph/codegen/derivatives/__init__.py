"""Exact derivatives of programs, as programs like any other.

differentiate      forward and reverse mode, Jacobians, Hessians
sweeps             derivatives through a whole graph
node_derivatives   the derivative of one operation as weights on its arguments
jacobian_entries   which inputs to seed, in which direction to sweep, where the entries are
sparsity           which outputs depend on which inputs
newton             Newton's iteration around a program
"""
