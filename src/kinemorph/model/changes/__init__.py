"""Functions that return a changed robot or system.

live_system   a hand that can pull each body, and set points that a live run can set
merge_fixed   merges bodies that are joined by fixed joints
reroot        describes the same robot from another base
rotor_body    makes the rotor of a motor a body
"""
