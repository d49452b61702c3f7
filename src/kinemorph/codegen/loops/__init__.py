"""Loop programs: programs run in loops, with nothing but numbers in arrays between them.

loop_program          the four statements, and how loop programs are built
keys                  what a loop program computes, as parts of its key
printing              programs, loop programs and graphs as readable text
block_routines        block operations (solve, least squares, table) as loop programs
elimination           Gaussian elimination
pivoting              the columns that carry a matrix, chosen by size
splitting             one program as several, with loops between them
branch_matrix         matrices with the structure of a tree, worked on by loops (with _rows and _blocks)
"""
