"""Laws of constraints: guided points, rolling wheels, prescribed motions, and the user's own equations."""
