"""Motions from recorded markers: points in space that were measured frame by frame, such as by video.

markers         `Markers`: positions of named points over time, with gaps and weights
load_markers    `load_markers`: markers from files, in any unit and axes
files/          the formats of files with markers: CSV, TRC, C3D
"""
