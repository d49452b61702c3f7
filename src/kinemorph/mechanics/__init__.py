"""How physics is written: pure functions over any scalar, on a Tree of links.

motions             rotations as plane turns, and the joint table: how each kind moves, its screw axes
tree                what the recursions run on: one link per elementary joint, frames on the joint axes
resolving           Robot -> Tree
reframing           Tree -> Tree passes that leave the physics alone and make it cheaper
kinematics          poses, velocities, Jacobians and their rates
inertia_blocks      spatial inertias of rigid and articulated bodies
newton_euler        inverse dynamics (RNEA), bias and gravity forces
root_frame          one frame for a whole tree, and when it pays
composite_bodies    the mass matrix (CRBA)
articulated_bodies  forward dynamics (ABA)
axis_responses      what moving along every joint axis does to the loads
derivatives         derivatives of inverse dynamics, from pairs of axes
branch_factor       the mass matrix factored along the branches
forward_derivatives derivatives of forward dynamics
directional         derivatives of any function of the state, by dual numbers
coriolis            the Coriolis matrix
momentum            center of mass, momentum, centroidal matrix; kinetic and potential energy
lagrange            the same equations from the energies alone, by nested dual numbers
"""
