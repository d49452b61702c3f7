"""Dispatch: the items of a study go to workers in chunks, and their outcomes to the store.

carry_out       sends chunks, takes in outcomes and losses, records and reports
chunk_queue     which items go together in the next chunk
tally           how many items have results so far
"""
