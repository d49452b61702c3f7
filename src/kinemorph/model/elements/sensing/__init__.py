"""Sensors as data."""
