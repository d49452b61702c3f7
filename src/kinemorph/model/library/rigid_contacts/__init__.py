"""Robots with rigid contacts: a ball, Newton's cradle, a rocking block, a rod, and a stack of blocks, each a System.

planar_bodies    standing_block, falling_rod, stacked_blocks, sliding_block: bodies in the vertical x-z plane
balls            rigid_ball, cradle: balls in space, and balls in a row
"""
