"""Motions from recorded markers: points in space that were measured frame by frame, such as by video.

markers         `Markers`: positions of named points over time, with gaps and weights
load_markers    `load_markers`: markers from files, in any unit and axes
files/          the formats of files with markers: CSV, TRC, C3D
track           `track`: the motion of a robot that follows markers
tracked         `Tracked`: its result, with residuals and intervals
attachments     where markers sit on a robot
marker_problem  the least squares of a recording; smoothness, its second part; bands, its matrices
descent         damped Gauss-Newton for all frames at once
starts          first configurations of all frames
misfits         signs that markers and robot do not belong together
"""
