"""Identification: the speed of regressors, and of information from samples, beside Pinocchio's and LAPACK's."""
