"""The languages of programs: one file for each, all with the same function from a job to the texts of its files."""
