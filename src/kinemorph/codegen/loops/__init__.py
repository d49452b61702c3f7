"""Loop programs: programs that are called in loops and pass numbers to each other in arrays.

loop_program          views of arrays, the four statements, and the loop program that consists of them
loop_builder          `LoopBuilder`, with which loop programs are written
keys                  the parts of a loop program's key
printing              programs, loop programs and graphs as readable text
block_routines        block operations (solve, least squares, table) as loop programs
complementarity       the linear complementarity problem, by Lemke's pivots
coulomb_cone          contacts in Coulomb's cone, by complementarity and Newton's method
elimination           Gaussian elimination
pivoting              linearly independent columns of a matrix, chosen by length
rows_in_lanes         which buffers can be stored as vectors
splitting             one program divided into several, some of them called in loops
branch_matrix         factoring and solving with matrices that have the sparsity of a tree (`branch_matrix_rows`)
"""
