"""The vocabulary of expressions: what may happen to a number, one row each.

ops                 scalar operations: name, arity, meaning, derivative, cost
blocks              operations on whole arrays: solve, least squares, table lookup
block_derivatives   derivatives of blocks, by the implicit rule

Dual numbers, the expression graph and every backend read these tables; nothing here knows a robot.
"""
