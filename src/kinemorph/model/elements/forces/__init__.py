"""Forces as data: springs, bushings, legs, applied forces, forces inside joints, tires."""
