"""Worker processes of the studio and their pool: long work is done in them, so that the server always answers at once.

pool          starts workers ahead, gives them jobs, replaces those that have ended
job           work that was asked for, waits, is done and ends with a result
process       the main program of a worker
user_python   Python files of the user, which the server and every worker execute at their start

Processes, their pipes, messages and memory are those of `studies.workers`. A job is the name of a row in
`tasks.work.WORK` and data that JSON can express; nothing else travels to a worker.
"""
