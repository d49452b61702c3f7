"""C and CUDA source, and programs run as compiled C.

export          C: a pair of files that needs no more than libm
cuda            CUDA: kernels, one thread per state
spelling        how operations, numbers and names are written in both
functions       a program as a function of arrays
loop_programs   a loop program as a function of arrays
unit            one source text: its names and functions
library         C compiled and loaded on this computer
"""
