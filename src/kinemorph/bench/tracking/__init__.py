"""Tracking: a recorded fly in Kinemorph and in SeqIKPy, with the time per frame and the distances that are left."""
