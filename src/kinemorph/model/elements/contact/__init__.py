"""Contacts as data: contacts with the ground and between bodies, the ground, the laws of normal force and friction."""
