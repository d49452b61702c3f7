"""Replay pages: the time to make, open and play them, and their size."""
