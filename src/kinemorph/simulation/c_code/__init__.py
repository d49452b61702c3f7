"""C in a run: the controllers of a model that are functions in C, compiled and called in a process of their own.

unit       all C of a model as data: sources, options, functions
compiler   from this to an executable server, which is kept in the cache of compiled code
process    a running server, which calls the functions
"""
