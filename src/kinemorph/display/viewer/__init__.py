"""A scene in the browser, alive: robots that are posed by sliders, runs that are played.

viewers     view(subject) and the Viewer it gives
serving     the web server (viser, extra [view]): on this computer only, a free port, and quiet
nodes       what the browser draws: bodies, marks, traces, names, the ground, the camera
knobs       coordinates of joints as what a person turns: degrees and meters, roll, pitch and yaw
posing      a robot's configuration, its sliders, and loops that close again when one of them moves
clock       time that goes on by itself, at a speed, to the end or round and round
playing     the panel of a run: play, scrub, speed, values, events
showing     the panel of what is shown: layers, names, traces, notes
"""
