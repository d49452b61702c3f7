"""The recursive algorithms of rigid-body dynamics.

kinematics           poses, velocities, Jacobians and their rates
newton_euler         inverse dynamics (RNEA), bias and gravity forces
composite_bodies     the mass matrix (CRBA)
articulated_bodies   forward dynamics (ABA)
coriolis             the Coriolis matrix
momentum             center of mass, momentum, centroidal matrix; kinetic and potential energy
"""
