"""Exact derivatives of programs, as programs like any other.

differentiate      forward and reverse mode, Jacobians, Hessians
sweeps             forward and reverse sweeps through a whole graph
node_derivatives   the derivative of one operation as weights on its arguments
row_sum_rule       the derivative of a sum over the rows of a table
jacobian_entries   the seeds of a Jacobian, the direction of its sweeps, and its entries
sparsity           which outputs depend on which inputs
newton             Newton's iteration around a program
"""
