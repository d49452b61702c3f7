"""Replays: time to make, open and play a page, and its size."""
