"""The store of a study: one SQLite file that has its items and results, and loses nothing that was reported.

store           `open_store`: declares items, records results, and reads them as a table
table           all items with their results, as arrays
layout          the tables of the file, and which column has which part or measure
rows            rows of the file from arrays, and back, with their checks
checks          checksums by which damaged rows are found
locks           one writer at a time
journals        how SQLite keeps its promises on a local or a network folder
kept_runs       runs as .npz files beside the store
failures        sentences for what SQLite and the operating system report
"""
