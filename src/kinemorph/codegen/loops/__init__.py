"""Loop programs: programs run in loops, with nothing but numbers in arrays between them.

loop_program          places in arrays, the four statements, and the loop program that they make up
loop_builder          how loop programs are written
keys                  what a loop program computes, as parts of its key
printing              programs, loop programs and graphs as readable text
block_routines        block operations (solve, least squares, table) as loop programs
elimination           Gaussian elimination
pivoting              the columns that carry a matrix, chosen by size
splitting             one program as several, with loops between them
branch_matrix         matrices with the structure of a tree, worked on by loops (with _rows and _blocks)
"""
