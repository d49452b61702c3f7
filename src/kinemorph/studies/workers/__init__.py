"""Workers of a study: they compute chunks of its items, in this process, in processes of their own, or in a cluster.

open_workers      the workers that a user has named, as a context
crew              what all workers have in common; the calling process, processes of our own, and executors of others
cluster           a Dask cluster on this machine, or one that is running
work              what a worker does with a chunk
companions        processes beside workers that others have started, for limits and for threads
processes         our own executor of processes, which survives their deaths
process           the main program of such a process
child             a process that works for another one and ends with it
frames            messages between processes, on pipes
memory            how much memory a process uses and may use
"""
