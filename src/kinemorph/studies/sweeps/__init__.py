"""Sweeps: a model is run for all items of a space; the study that comes out of it.

sweep             `sweep`, and `OpenSweep`, to which items are given in stages
sweep_options     how a sweep is carried out: its store, its workers, and what it keeps and reports
study             `Study`: the items of a study with their results
study_sheet       what a study has to show
"""
