"""The data of force elements: springs, bushings, legs, applied forces, forces in joints, tires."""
