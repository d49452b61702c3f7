"""Exciting motions: those that show the masses and the friction of a robot best, within its limits.

excite               `excite`: the search
excitation           its result: the motion as an element and as samples, what it says about each parameter, its limits
excitation_problem   information and limits of a motion as functions of the unknowns, with exact gradients
series_basis         series from rest to rest as linear functions of unknowns
random_series        random series within the same limits, where a search begins and with which it is compared
unknown_columns      which columns of the regressor the motions of some joints show
hanging              joints that nothing drives, which swing as the others move
motion_limits        limits of the model and of the user, and what is assumed without them
zones                boxes that points of the robot stay out of, or stay inside of
barrier_search       descent that never breaks a limit
"""
