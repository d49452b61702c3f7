"""Hybrid robots: walks of the compass beside Drake's, impact maps beside Pinocchio's, and a basin of attraction."""
