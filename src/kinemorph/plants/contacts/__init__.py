"""Contacts of a plant: rows and forces of rigid ones, the motion while they are closed, and joined soft ones."""
