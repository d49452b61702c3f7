"""Motors and actuators as data."""
