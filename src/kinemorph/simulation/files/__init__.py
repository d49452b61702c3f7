"""Files of runs: one module for each format, behind one signature.

encode(record) -> bytes         a record is a description (JSON) and arrays by name; see `simulation.files.run_record`
decode(path) -> record          never executes anything; ValueError, in words, for a file that is not one of these
"""
