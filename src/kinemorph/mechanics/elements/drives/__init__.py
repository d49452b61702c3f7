"""Laws of motors and actuators, and the inertia of their rotors."""
