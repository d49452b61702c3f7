"""Sensors as data: encoders, inertial units, force-torque sensors, contact switches, probes."""
