"""What workers do for panels, apart from runs: one file of functions `(data, report) -> data` per panel.

task_models      the model of a task, read from the text of its document
equation_tasks   equations as data for the page
analysis_tasks   verification, mobility, equilibrium, poles with mode shapes
export_tasks     code, programs, models, pictures and replays as files
report_tasks     the report of a project
running_tasks    how the server starts a task, follows its progress and cancels it

`data` come from JSON and contain the text of the document and its path; files of a result are sent as parts.
"""
