"""Animals: Systems with the geometry and masses of an animal, feet on the ground and controllers of posture.

cockroach_data    all numbers of the cockroach in one table, each with its source or marked as assumed
cockroach         cockroach, and cockroach_leg: one leg on a box
cockroach_gait    running_cockroach: the animal running by tripods, its feet on given paths
fly               fly: a Robot with a free thorax and six legs of seven hinges, to follow recorded points
"""
