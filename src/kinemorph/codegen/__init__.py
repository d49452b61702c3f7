"""How numbers are made: expression graphs, programs, and the backends that run or write them.

    graph ──► program ──► schedule ──► backends (interpreter, llvm) ──► function
    trace     named       order and    what runs                       NumPy arrays in,
              ports       chunks                                       NumPy arrays out

This room has never heard of a robot. `compile.build(program)` is the way through it; `printing.format_program` shows a
program after any step.
"""
