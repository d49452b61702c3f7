"""Closed chains: speed of forward dynamics, and ten seconds of a four-bar in several simulators."""
