"""Closed chains: forward dynamics, and ten seconds of a four-bar by every simulator."""
