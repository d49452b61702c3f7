"""Replays: self-contained HTML pages that show a scene, and open from disk in any browser.

replay          the function `replay` and the class Replay, which saves and opens the page
notebook_frame  a replay inside a notebook
packing         encodes a scene as one text
codes           compresses arrays of integers
joint_rows      encodes the joints of a robot and its coordinates over time
surface_codes   encodes surfaces, each distinct one once
page/           the page itself, which opens a stage (see display/stage)
"""
