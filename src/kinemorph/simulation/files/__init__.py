"""Files of runs: one Python file for each format, all with the same two functions.

encode(record) -> bytes         a record is a description (JSON) and arrays by name; see `simulation.files.run_record`
decode(path) -> record          never executes anything; raises ValueError for a file that is not of this format
"""
