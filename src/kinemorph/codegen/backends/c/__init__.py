"""C and CUDA source code of programs, and programs run as compiled C.

export          C: a source file and a header that need only libm
cuda            CUDA: kernels, one thread per state
spelling        how operations, numbers and names are written in both
functions       a program as a function of arrays
loop_programs   a loop program as a function of arrays
abreast         loops with independent passes, side by side for SIMD lanes
unit            one source file: its names and functions
library         C code compiled and loaded on this computer
"""
