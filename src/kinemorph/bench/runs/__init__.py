"""Runs in time: the same motion by several simulators."""
