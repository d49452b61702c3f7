"""Models from recordings: which parameters a motion shows, and what their values are.

base_parameters    `base_parameters`: the combinations of masses, moments and inertias that forces depend on
random_motions     random states and accelerations, with the motions that closed chains leave
shifted_masses     masses that can be moved from one body to another without any change of the forces
excitation/        `excite`: motions that show the parameters of a robot best
recording          `Recording`: what was measured during one motion
read_recording     `read_recording`: recordings from text files in any names and units
recording_checks   mistakes in recordings, told in sentences
rates              velocities and accelerations from measured positions
cutoffs            the cut-off of the filter, chosen by the forces of pieces of recordings that are left out
misfits            why forces are fitted badly: units, signs, swapped columns, delays, filters, another robot
rows               equations  y = Y theta  of recordings, in blocks: torques, momentum, wrenches, closed chains
information        `Information`: what recordings say about parameters, as triangles that do not grow with samples
feasible           `feasible_parameters`: parameters of real bodies that fit measured forces best, by two solvers
loads              `identify_payload` and `drive_gains`: loads on a robot, and what they show about its drives
shares             `data_shares`: how much of each number comes from data, and how much from a prior
with_parameters    `with_parameters`: a model with other masses, inertias, armatures and friction
unknowns           what is unknown: columns, their base parameters, and the trust in the model's values
estimators         ordinary, weighted, robust and total least squares, as a table of methods
covariances        covariances of estimates whose residuals are coloured
identified         `Identified`: the result, and forces that it predicts
identify           `identify`
"""
