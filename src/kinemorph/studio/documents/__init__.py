"""Documents: model files that are edited by commands, with a journal on the disk that makes every edit undoable."""
