"""Replays: a self-contained page with a scene in it, which opens from disk in any browser.

replay          the page as one text: saving, opening, showing in a notebook (`notebook_frame`)
packing         from a scene to one text of letters and digits
codes           arrays of whole numbers as few bytes
joint_rows      the joints of a robot as the page computes them, and how finely their coordinates are kept
surface_codes   each distinct surface once
page/           what runs in the browser: unpack, algebra, posing; the rest draws and listens
"""
