"""Rigid contact: a spinning ball, a rocking block, a stack and a jamming rod in several simulators: error over time."""
