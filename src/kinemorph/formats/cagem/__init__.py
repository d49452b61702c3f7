"""Files of CAGeM, the generator of EasyDyn: .mu, in the notation of MuPAD, and .mac of its successor CADyn, of Maxima.

A file gives the position matrix of each body; see docs/cagem.md.

reader       makes a robot of a file
statements   splits a text into assignments, and refuses code
notations    how MuPAD and Maxima spell expressions
keys         the keys and flags of a file
definitions  the values of the names that a file assigns, each after the names that it depends on
writer       writes a robot as a .mu file
"""
