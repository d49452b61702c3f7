"""The data of motors and actuators, with their gears and limits."""
