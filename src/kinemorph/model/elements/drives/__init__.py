"""Motors and actuators as data, with their gears and limits."""
