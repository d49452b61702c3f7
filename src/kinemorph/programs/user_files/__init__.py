"""Files between a program and code of its user: the interface, which is written anew with each program, the functions
that join both, and templates of the user's own files, which are written once.

interface    the names that the user's code may use, as data, and what a new model changes in them
c, python, matlab    the files in each language
"""
