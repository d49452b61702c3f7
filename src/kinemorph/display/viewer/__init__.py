"""A live viewer in the browser: robots with a slider for every joint, runs that play, controlled by a program.

view            the function `view` and the class Viewer
pages           the connected pages of a viewer: they get its scene and its state, and report what their users change
posture         the configuration of a robot without a run; loops are closed again when a joint is set
joint_values    joint coordinates as the values of sliders: roll, pitch and yaw in place of a quaternion
clock           playback time
page/           the page: a stage that is connected to the viewer
"""
