"""Laws of gaits: functions of time, phase oscillators, coupled maps."""
