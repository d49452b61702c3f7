"""The operations that expressions are made of, each defined once.

ops                 scalar operations: name, arity, meaning, derivative, cost
blocks              operations on whole arrays: linear solve, least squares, table lookup
grid_surfaces       blocks of a surface over a regular grid: its partial derivatives, its nearest points
complementarity     the block of a linear complementarity problem
coulomb_cone        the block of contacts in Coulomb's cone
block_derivatives   derivatives of blocks, by implicit differentiation
frozen_array        many numbers as one piece of plain data
typography          printed formulas as data: letters, fractions, indices, brackets; the reader of a symbol's LaTeX

Dual numbers, the expression graph and every backend read these tables. Nothing in this folder depends on robots.
"""
