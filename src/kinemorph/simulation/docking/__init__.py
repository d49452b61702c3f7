"""Modules that dock and undock during a run: the events as data, and the plants of every topology.

changes      `Dock` and `Undock`, and how far two ports are from each other
topologies   what is docked to what, and the plant of each topology
saved_run    the plants of a saved run, recovered from its events

The run itself is `running/docked_run.py`; the impact of two ports is `mechanics/impacts/plastic_impact.py`.
"""
