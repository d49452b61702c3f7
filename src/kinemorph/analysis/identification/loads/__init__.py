"""Loads on a robot: what a payload weighs, and the gains of drives that a known load shows.

load_rows      rows of recordings with and without a load, whose ten parameters are further columns
payload        `identify_payload`: mass, center of mass and inertia of a load from its recordings
drive_gains    `drive_gains`: the torque for each unit of a drive's signal, from recordings with a known load
"""
