"""Identification: the speed of regressors beside Pinocchio's."""
