"""Study files: a study as TOML text, read with findings for everything that is wrong, and written back.

study_plan       `StudyPlan`: what a study file says, as the arguments of `sweep`
study_fields     the keys of a study file: reader, writer and schema all use these tables
reader           `load_study_plan` and `examine_study`: from a file to a plan
parts            the tables of parts of a space
writer           `save_study_plan`: from a plan to a file that is read back as the same plan
stored_plan      the study file that a store keeps, by which a study is resumed
schema           the JSON schema of study files
"""
