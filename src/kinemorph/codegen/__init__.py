"""How numbers are made: expression graphs, programs, and the backends that run or write them.

    graph ──► program ──► schedule ──► backends (interpreter, llvm) ──► function
    trace     named       order and    what runs                       NumPy arrays in,
              ports       chunks                                       NumPy arrays out

graphs/        expression graphs, and programs with named inputs and outputs
loops/         loop programs: programs run in loops
derivatives/   exact derivatives of programs
reading/       equations that people read
storing/       compiled code kept on disk
backends/      interpreter, LLVM, C and CUDA, text of other languages
building/      from a program to a function of NumPy arrays

This room has never heard of a robot. `building.compile.build(program)` leads through it;
`loops.printing.format_program` shows a program after any step.
"""
