"""The data of force elements: springs, bushings, spring legs without mass, applied forces, forces in joints, tires."""
