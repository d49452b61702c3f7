"""The data of contacts with the ground and between bodies, of the ground, and of normal force and friction laws."""
