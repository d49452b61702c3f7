"""Small motions about a state: equilibrium, linearization, poles and sensitivities.

equilibrium          `equilibrium`: a state at rest that stays at rest
equilibrium_search   the search for an equilibrium: Newton steps and a damped motion
linearize            `linearize`: the linear equations about any state
poles                `poles`: eigenvalues, damping, mode shapes
eigenproblems        the eigenvalue problems that give the poles
stability            whether an equilibrium is stable
sensitivities        `sensitivities`: how a motion changes with parameters, inputs and the initial state
pole_sensitivities   `pole_sensitivities`: how poles change with parameters
variational_plant    the variational equations of a plant, as a larger plant
plant_derivatives    exact derivatives of a plant's equations at one state, shared by all files here
"""
