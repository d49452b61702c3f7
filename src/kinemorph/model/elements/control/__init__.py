"""Controllers and references as data, and how they are wired."""
