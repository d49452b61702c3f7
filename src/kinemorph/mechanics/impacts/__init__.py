"""Impacts: velocities that change from one instant to the next, impulses, and the energy that is lost.

impact           impacts of contacts by the laws of the model: one contact, several at once or in sequence
contact_space    impulses and velocities of contacts, while loops and locks hold on
touch            one contact: what it feels, and the places on its path
sliding_path     one contact, followed through its impact: sliding that stops, turns and reverses
sliding_steps    sliding that turns, by Taylor steps, and the direction that it approaches
coulomb_cone     several contacts at once in Coulomb's cone, by complementarity
plastic_impact   impacts after which given rates vanish, as where modules dock or feet stick
"""
