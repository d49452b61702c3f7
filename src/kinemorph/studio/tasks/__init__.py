"""What is done in worker processes: functions `(data, report) -> data`, one file per subject.

work               the table of all tasks by name, and how a task reports its progress
task_models        the model of a task, read from the text of its document
equation_tasks     equations as data for the page
analysis_tasks     verification, mobility, equilibrium, poles with mode shapes
export_tasks       code, programs, models, pictures and replays as files
report_tasks       the report of a project
run_tasks          runs, whose pictures grow while they are computed
run_result_tasks   pictures, comparisons, audits and files of finished runs
live_tasks         live runs, which listen to messages

`data` come from JSON and contain the text of the document and its path; files of a result are sent as parts.
"""
