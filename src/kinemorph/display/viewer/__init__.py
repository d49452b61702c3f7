"""A live scene in the browser: robots that are posed by sliders, runs that are played.

view               `view`, and the Viewer it gives
server             the web server (viser, extra [view]): on this computer only, on a free port
nodes              what the browser draws: bodies with their parts, marks, traces, names
joint_sliders      coordinates of joints as a person turns them: degrees and meters, roll, pitch and yaw
robot_panel        a robot's configuration and its sliders; loops close again when one of them moves
run_panel          a run: play, scrub, speed, values, events
layers_panel       what is shown: layers, names, traces, notes
clock              playback time
ground_and_light   the ground with its grid, light, and the first camera
"""
