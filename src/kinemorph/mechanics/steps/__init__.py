"""Mechanics within one time step, or from one instant to the next.

implicit_forces    stiff forces at the end of a step, inside the articulated-body algorithm
point_states       the state of a point or a joint as a force law sees it
frozen_stiffness   how stiff a robot is at a state, against its mass
discrete_action    the Lagrangian of a whole step, for variational integrators
plastic_impact     velocities that vanish at once, as where modules dock
state_transfer     states carried to a robot of the same bodies with other joints
"""
