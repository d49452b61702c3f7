"""Worker processes of the studio: they derive, compile, run and analyse, so that the server always answers at once.

`pool.Pool` starts them ahead and gives them jobs. A job is the name of a row in `work.WORK` and data that JSON can
express; nothing else travels to a worker.
"""
