"""Models from recordings: which parameters a motion shows.

base_parameters    `base_parameters`: the combinations of masses, moments and inertias that forces depend on
random_motions     random states and accelerations, with the motions that closed chains leave
shifted_masses     masses that can be moved from one body to another without any change of the forces
"""
