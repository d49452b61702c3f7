"""A scene in the browser, alive: robots that are posed by sliders, runs that are played.

viewers        view(subject) and the Viewer it gives
serving        the web server (viser, extra [view]): on this computer only, a free port, and quiet
surroundings   the ground and its grid, and the camera that sees everything at first
nodes          what the browser draws: bodies with their parts, marks, names
sending        poses of many bodies, quickly
ways           traces: the way of a point up to now
colors         colors as the page takes them
knobs          coordinates of joints as what a person turns: degrees and meters, roll, pitch and yaw
posing         a robot's configuration, its sliders, and loops that close again when one of them moves
clock          time that goes on by itself, at a speed, to the end or round and round
playing        the panel of a run: play, scrub, speed, values, events
showing        the panel of what is shown: layers, names, traces, notes
"""
