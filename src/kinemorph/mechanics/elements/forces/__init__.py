"""Laws of forces: springs, bushings, legs, applied forces, forces inside joints, tires."""
