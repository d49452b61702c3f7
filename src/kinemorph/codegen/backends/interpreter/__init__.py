"""The interpreter: programs carried out by NumPy. It defines what a program means; every backend agrees with it."""
