"""Feedback designed from linear equations: regulators of least cost, and observers of least error.

lqr             `lqr`: the regulator of least cost near an equilibrium, or along a motion
kalman          `kalman`: the observer of least error
regulator       the record of a regulator, and its element
holding         states at which held inputs keep a plant at rest
riccati         Riccati equations, algebraic and backwards in time, and exact sampling
stabilizable    the directions that inputs cannot stabilize, by name
weights         weights as a matrix, a vector or a dict by name
"""
