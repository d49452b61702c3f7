"""Changed robots: a robot or system in, another one out.

merge_fixed   bodies joined by fixed joints become one body
reroot        the same robot described from another base
rotor_body    the rotor of a motor as a body of its own
"""
