"""Results as plain data, and the same data as tables.

grid               tables (`Grid`) and lists of facts (`Facts`): for a terminal, as text, Markdown, LaTeX and HTML
summaries          robots, functions and checks as plain data: what `--json` prints
robot_tables       the same data as tables for a terminal, and how they are printed
run_summaries      runs, poles and equilibria as plain data; `run_tables` shows them
element_tables     the elements of a system
assembly_tables    matrices and lists of an assembly
assembly_reports, file_reports, gait_reports, loop_reports   one verb's data and lines each
"""
