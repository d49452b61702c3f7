"""Pictures of legged motion: ground forces over stances.

stance_plots    the forces of the ground on each leg over one stance, as in Fig. 4 of Nelson and Quinn
standing_plots  efforts and leaning of reactions over the stiffness of the posture
"""
