"""The equations of mechanics: pure functions over any scalar, on a Tree of links.

trees/          the data of the recursions: one link per elementary joint, frames on the joint axes
recursions/     kinematics, inverse dynamics (RNEA), mass matrix (CRBA), forward dynamics (ABA), energies
derivatives/    derivatives of inverse and forward dynamics in closed form
formulations/   independent derivations of the same equations of motion, in one table
constraints/    motion under constraints: closed chains, coupled joints
impacts/        impacts by law, with complementarity and friction, and plastic impacts of given rows
steps/          mechanics within one time step: stiff forces
elements/       the laws of elements: forces, contact, constraints, drives, control, sensing, gaits
"""
