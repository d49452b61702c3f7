"""The data of the recursions: a robot as a tree of links, one per elementary joint.

tree         the Tree: links, attachments, closures
motions      the table of elementary joints: how each moves, its screw axes
resolve      Robot -> Tree: parameters become numbers, fixed bodies are merged, joint axes become z axes
reframing    Tree -> Tree passes that make the computation cheaper and leave the physics unchanged
root_frame   one common frame for a whole tree, and whether it saves operations
moments      moments of mass, joined and shifted
limbs        groups of limbs with the same joints, of which the recursions compute one
charts       local coordinates about one configuration
"""
