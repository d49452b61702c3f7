"""Work that the server has asked workers for: it follows each job, tells pages how it stands, and keeps the results.

page_tasks    tasks of one page, with progress, a result and a file to download
run_results   the runs of a project and their results, which stay across restarts
live_runs     one live run for each document, in a process of its own
"""
