"""Results as plain data (what the option `--json` prints), and these data as tables.

system_sheet       what a system has to show, and what the command `info` adds to it
element_tables     its elements: what they act on, their data, what drives what
phase_tables       its phases and edges
summaries          functions as plain data and as a table
run_summaries      runs as plain data; `run_tables` makes tables of them
assembly_tables    matrices and lists of an assembly
report_checks      the rows of a report that no longer hold
file_reports, gait_reports, loop_reports   the data and tables of one command each
"""
