"""Exports: everything that leaves the library as files, as texts or bytes by file name, before anything is written.

emitted_forms   functions of a robot as source code, formulas or a graph
export_files    code, programs, model files, pictures and replays as bytes by name, with notes on what was left out
"""
