"""The data of sensors: encoders, inertial measurement units, force-torque sensors, contact switches, probes."""
