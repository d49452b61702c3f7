r"""Formulas as they are printed, independent of a notation: letters, fractions, indices, brackets, matrices.

marks           the parts of a printed formula, as data
alphabet        the Greek letters, signs and accents that symbols may contain, with their names in LaTeX
symbol_reader   reads the LaTeX of a symbol, such as \theta_1, into marks; it knows a small part of LaTeX and no more
"""
