"""The operations that expressions are made of, each defined once.

ops                 scalar operations: name, arity, meaning, derivative, cost
blocks              operations on whole arrays: linear solve, least squares, table lookup
block_derivatives   derivatives of blocks, by implicit differentiation

Dual numbers, the expression graph and every backend read these tables. Nothing in this folder depends on robots.
"""
