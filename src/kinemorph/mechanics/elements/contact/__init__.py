"""Laws of contact: the shape of the ground, normal forces, friction."""
