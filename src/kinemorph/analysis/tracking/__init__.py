"""Motions from recorded markers: points in space that were measured frame by frame, such as by video.

markers         `Markers`: positions of named points over time, with gaps and weights
load_markers    `load_markers`: markers from files, in any unit and axes
attachments     where markers sit on a robot, and where they are in given configurations
marker_checks   mistakes in recordings that a robot shows: other units, left and right exchanged
views           `View`: one camera, as a parallel or central projection
calibrated      `calibrated`: a view from pictures of known points
filmed          `Filmed` and `load_view`: points in the pictures of one camera
reconstruct     `reconstruct`: points in space from two or more views, with residuals and covariances
segment_lengths `scaled_segments`: a robot with the lengths that a recording shows
synthetic       `synthetic_markers`, `tripod_markers`, `film`: recordings of known motions, with noise and gaps
files/          the formats of files with markers: CSV, TRC, C3D
track           `track`: the motion of a robot that follows markers
tracked         `Tracked`: its result, with residuals and intervals
fitting/        the parts of `track`: least squares over all frames
"""
