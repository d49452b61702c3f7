"""Laws of sensors: their readings, with delay, noise and resolution."""
