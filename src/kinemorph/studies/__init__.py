"""Studies: many runs over a space of values, by any number of workers, with a store that loses nothing.

items                what one run gets, as columns with a key for each item
outcomes             what travels between a study and its workers
store/               the file of a study, which loses nothing that was reported
"""
