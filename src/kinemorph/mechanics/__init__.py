"""How physics is written: pure functions over any scalar, on a Tree of links.

motions             rotations as plane turns, and the joint table: how each kind moves, its screw axes
tree                what the recursions run on: one link per elementary joint, frames on the joint axes
resolving           Robot -> Tree
reframing           Tree -> Tree passes that leave the physics alone and make it cheaper
kinematics          poses, velocities, Jacobians and their rates
inertia_blocks      spatial inertias of rigid and articulated bodies
newton_euler        inverse dynamics (RNEA), bias and gravity forces
composite_bodies    the mass matrix (CRBA)
articulated_bodies  forward dynamics (ABA)
coriolis            the Coriolis matrix
momentum            center of mass, momentum, centroidal matrix; kinetic and potential energy
lagrange            the same equations from the energies alone, by nested dual numbers
"""
