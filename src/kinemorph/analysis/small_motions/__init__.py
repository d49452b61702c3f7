"""Small motions about a state: equilibrium, linearization, poles and sensitivities.

equilibrium          `equilibrium`: a state at rest that stays at rest, and whether it is stable
equilibrium_slopes   how an equilibrium changes with parameters and inputs
equilibrium_search   the search for an equilibrium: Newton steps and a damped motion
linearize            `linearize`: the linear equations about any state
named_matrices       matrices as tables with the names and units of their rows and columns
poles                `poles`: eigenvalues, damping, mode shapes
eigenproblems        the eigenvalue problems that give the poles
sensitivities        `sensitivities`: how a motion changes with parameters, inputs and the initial state
pole_sensitivities   `pole_sensitivities`: how poles change with parameters
start_slopes         how the initial state changes with parameters and initial values, under constraints
varied_run           `varied_run`: the end of a motion after n edges of an automaton, and its derivatives
variational_plant    the variational equations of a plant, as a larger plant
variation            the quantities by which a plant is differentiated, and where their derivatives are kept
saltation            how derivatives jump at the edges of an automaton
local_coordinates    local coordinates of a plant's configurations
plant_derivatives    exact derivatives of a plant's equations at one state, shared by all files here
"""
