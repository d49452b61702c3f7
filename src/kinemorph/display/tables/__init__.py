"""Results as plain data (what the option `--json` prints), and these data as tables.

summaries          robots, functions and checks as plain data
phase_tables       the phases and edges of a hybrid automaton
robot_tables       the data of `summaries` as tables for a terminal
element_tables     the elements of a system, as data and as tables
assembly_tables    matrices and lists of an assembly
report_checks      the rows of a report that no longer hold
assembly_reports, file_reports, gait_reports, loop_reports   the data and tables of one command each
"""
