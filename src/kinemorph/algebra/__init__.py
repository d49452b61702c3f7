"""The arithmetic of the package: scalars, dual numbers, small vectors and matrices, SO(3) and SE(3), spatial inertia.

Its files::

    scalar       sin, sqrt, where, ...: one function over floats, batches, graph nodes and dual numbers
    dual         forward derivatives, nested for higher order
    vectors      tuples of scalars in which a structural zero stays a zero
    linear       linear systems
    tables       curves through given points
    rows         formulas for all rows of a table at once, and their sums
    series       the coefficient functions of rotations, smooth through zero
    quaternions  unit quaternions wxyz
    rotations    SO(3): matrices, exponential, logarithm
    groups       SE(3): poses, exponential, logarithm, adjoints, twists, wrenches, screws
    inertia      mass, center of mass and moments; physical consistency
"""
