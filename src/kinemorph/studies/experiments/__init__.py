"""Experiments: what is done with each item of a study, from its values to the measures of its run."""
