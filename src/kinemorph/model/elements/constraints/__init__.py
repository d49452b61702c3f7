"""The data of constraints: guided points, rolling wheels, prescribed motions, equations of the user."""
