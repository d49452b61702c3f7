"""`verify`: checks of a derived model against the laws of mechanics, at random states.

verify           `verify`, the function
laws             the checks by laws of mechanics, as a table with one row each
declared_laws    checks of a derived model against the robot as it was declared
declared_model   poses, mass matrix and potential energy straight from a Robot's data
formulation_errors   every formulation beside the recursion: errors and operations
exported_code    exported C and Python code beside the interpreter
sampling         a model at random states, its relative errors and exact rates of change
verdict          the result of one check, and of all checks together
"""
