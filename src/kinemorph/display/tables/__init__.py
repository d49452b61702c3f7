"""Results as plain data (what the option `--json` prints), and these data as tables.

system_sheet       what a system has to show, and what the command `info` adds to it
element_tables     its elements: what they act on, their data, what drives what
phase_tables       its phases and edges
summaries          functions as plain data and as a table
assembly_tables    matrices and lists of an assembly
file_reports       what is wrong with model files
"""
