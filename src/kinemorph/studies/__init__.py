"""Studies: many runs over a space of values, by any number of workers, with a store that loses nothing.

items                what one run gets, as columns with a key for each item
spaces/              which values the items get: parts that vary, and designs that combine them
study_files/         a study as TOML text, read with findings and written back
outcomes             what travels between a study and its workers
"""
