"""From a program to a function of NumPy arrays.

compile     the table of backends, and `build`
function    `CompiledFunction`: checked arrays in, new arrays out
self_test   a tiny program, compiled and run with every backend
"""
