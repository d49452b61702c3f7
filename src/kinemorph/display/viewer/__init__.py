"""A live viewer in the browser: robots with a slider for every joint, runs that play.

view               the function `view` and the class Viewer
server             the web server (viser, extra [view]), reachable from this computer only
nodes              the nodes of the browser's scene: bodies with their parts, marks, traces, names
joint_sliders      joint coordinates as slider values: degrees and meters, roll, pitch and yaw
robot_panel        a robot's configuration and its sliders; loops are closed again when a slider moves
run_panel          the controls of a run: play, time, speed, values, events
layers_panel       the controls of layers, names, traces and notes
clock              playback time
ground_and_light   the ground with its grid, light, and the initial camera
"""
