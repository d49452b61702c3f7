"""Laws of forces: springs, bushings, spring legs without mass, applied forces, forces inside joints, tires."""
