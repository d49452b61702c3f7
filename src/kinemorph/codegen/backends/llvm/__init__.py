"""Machine code for this computer, compiled by LLVM.

backend           from a program to a kernel: for one state, or for several states in SIMD lanes
engine            from LLVM IR to callable functions; the cache; numbers that code refers to; LLVM's optimization passes
improvement       better code in the background, after code that was compiled in the least time
module            the functions of one LLVM module
single, lanes     the kernel for one state, and for several states in SIMD lanes
chunks            the operations of a program as functions of limited length
loop_programs     loop programs as functions; `loop_lanes`: passes of a loop in SIMD lanes
views, strides    reading and writing views of arrays, and numbers at a fixed stride
memory            local arrays of a function
math              types, spellings of ops and small functions; `sincos` and `range_reduction` for angles
transpose         rows of numbers converted to vectors, and back
entry             functions that Python calls directly
arrays            NumPy arrays in emitted code; `python_objects`: the memory layout of Python objects
"""
