"""`verify`: the laws that a derived model must obey, checked at random states.

verify           the check itself
laws             the laws of mechanics, one row each
declared_laws    the laws that tie a derived model to the robot as it was declared
declared_model   poses, mass matrix and potential energy straight from a Robot's data
sampling         a model at random states; relative errors and exact rates of change
verdict          one check, and the list of all of them with a yes or no
"""
