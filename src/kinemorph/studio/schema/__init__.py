"""What the JSON schema of model files says about a place in a file: which keys fit there, and what they refer to.

schema_walk   the schema of a place, found step by step from the root of a file
references    keys that contain names of other parts, and where a part is referred to
"""
