"""Machine code of this computer, by LLVM.

backend           from a program to a kernel: one state, or several side by side
engine            IR text to callable functions; the cache; effort of LLVM
module            the functions of one LLVM module
single, lanes     the kernel for one state, and for several states in SIMD lanes
chunks            the operations of a program as functions of bounded length
loop_programs     loop programs as functions; `loop_lanes`: passes of a loop in SIMD lanes
views, strides    where viewed values lie, and values a stride apart
memory            arrays that live during one function
math              types, spellings and small functions; `sincos` and `range_reduction` for angles
transpose         rows of numbers into vectors, and back
entry, call       functions that Python calls directly
arrays            NumPy arrays in emitted code; `python_objects`: how Python objects lie in memory
target            LLVM's version and the CPU that code is compiled for
"""
