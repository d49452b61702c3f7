"""Laws of sensors: what each reads, with delay, noise and resolution."""
