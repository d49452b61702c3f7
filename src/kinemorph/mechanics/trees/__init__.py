"""The data of the recursions: a robot as a tree of links, one per elementary joint.

tree         the Tree: links, attachments, closures
motions      the table of elementary joints: how each moves, its screw axes
resolve      Robot -> Tree: parameters become numbers, fixed bodies are merged, joint axes become z axes
reframing    Tree -> Tree passes that leave the physics alone and make it cheaper
root_frame   one frame for a whole tree, and when that pays
moments      moments of mass, joined and shifted
limbs        limbs that are alike
charts       local coordinates about one configuration
"""
