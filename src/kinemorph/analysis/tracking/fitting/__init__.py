"""Fitting a robot to all frames of a recording: the parts of `track`.

marker_model    the points of a robot that markers show
marker_problem  the least squares of a recording
smoothness      its second part, which connects frames
bands           its matrices, over all frames
descent         damped Gauss-Newton for all frames at once
starts          first configurations of all frames
misfits         signs that markers and robot do not belong together
"""
