"""Models from recordings: which parameters a motion shows.

base_parameters    `base_parameters`: the combinations of masses, moments and inertias that forces depend on
shifted_masses     masses that can be moved from one body to another without any change of the forces
excitation/        `excite`: motions that show the parameters of a robot best
"""
