"""The store of a study: one SQLite file that has its items and results, and loses nothing that was reported.

store           `open_store`: declares items, records results, and reads them as a table
table           all items with their results, as arrays
layout          the tables of the file, and which column has which part or measure
contents        everything that a store has, read with all checks and written to a new file
rows            rows of the file from arrays, and back, with their checks
checks          checksums by which damaged rows are found
known_items     the items that a store has, in the memory of its writer
aspects         what determines results, and what of it has changed
files           the file: made, opened, checked, repaired, and refused if its layout has another version
swaps           a store in place of another one, whatever happens meanwhile
salvage         what is good in a damaged store
pages, cells    pages of an SQLite file and the rows in them, read without SQLite
locks           one writer at a time
journals        how SQLite keeps its promises on a local or a network folder
kept_runs       runs as .npz files beside the store
export          CSV, Parquet and DataFrames
failures        sentences for what SQLite and the operating system report
"""
