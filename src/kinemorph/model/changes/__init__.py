"""Functions that return a changed robot or system.

merge_fixed   merges bodies that are joined by fixed joints
reroot        describes the same robot from another base
rotor_body    makes the rotor of a motor a body
"""
