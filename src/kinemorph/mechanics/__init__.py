"""How physics is written: pure functions over any scalar, on a Tree of links.

tree                what the recursions run on: one link per elementary joint, frames on the joint axes
motions             rotations as plane turns, and the joint table: how each kind moves, its screw axes
reframing           Tree -> Tree passes that leave the physics alone and make it cheaper
kinematics          poses, Jacobians, centre of mass, momentum
newton_euler        inverse dynamics (RNEA), bias and gravity forces, joint wrenches
composite_bodies    the mass matrix (CRBA) and the Coriolis matrix
articulated_bodies  forward dynamics (ABA)
energies            kinetic and potential energy
lagrange            the same equations from the energies alone, by nested dual numbers
"""
