"""Equations that people read: expression trees out of programs.

equations         the outputs of a program as expression trees
expression_tree   the trees that printers print
names             names for the entries of inputs and outputs, in text and LaTeX
normal_form       every output as a polynomial in harmonics of the angles
harmonics         arithmetic of these polynomials
sum_to_product    pairs of harmonics back into products
collect           from many terms to the brackets a person would write
block_trees       block operations as named results
straight_line     shared subexpressions get names, the rest is written in place
"""
