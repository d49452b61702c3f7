"""The interpreter: programs evaluated with NumPy. It defines what a program means; other backends have to agree."""
