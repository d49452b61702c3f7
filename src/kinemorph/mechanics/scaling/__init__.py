"""Systems of another size: every number of a robot and of its elements, scaled by the dimension of its field."""
