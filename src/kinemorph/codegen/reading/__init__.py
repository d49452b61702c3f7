"""Readable equations: the outputs of programs as expression trees, and these as printed formulas.

equations         the outputs of a program as expression trees
expression_tree   the trees that printers print
names             names for the entries of inputs and outputs, in text and LaTeX
normal_form       every output as a polynomial in atoms and in sines and cosines of angles
harmonics         arithmetic of these polynomials
sum_to_product    pairs of sines and cosines combined into products
collect           common factors taken out of sums
block_trees       block operations as named results
straight_line     programs as a list of named subexpressions
printed_formula   a tree as a printed formula: brackets, fractions, exponents; every notation is written from it
line_breaks       long formulas on several lines
equation_rows     the equations of a program as rows of a page
"""
