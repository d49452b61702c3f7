"""Hybrid motions: automata of phases and edges, and points that are held where they landed."""
