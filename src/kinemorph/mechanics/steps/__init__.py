"""Mechanics within one time step, or from one instant to the next.

implicit_forces    stiff forces at the end of a step, inside the articulated-body algorithm
pair_forces        stiff forces between two links at the end of a step
point_states       the state of a point or a joint as a force law gets it
point_motions      velocities of points and pairs, at the start of a step and at its end
free_flight        how joints move on in a step where no force acts
step_accounts      what the forces of an implicit step do to the energy of a robot
frozen_stiffness   the stiff forces of a robot, linearized at a state
discrete_action    the Lagrangian of a whole step, for variational integrators
state_transfer     the state of a robot, expressed for a robot of the same bodies with other joints
"""
