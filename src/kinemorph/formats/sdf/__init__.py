"""SDF: models, nested and included, whose poses may be relative to any frame. `reader`, and its parts."""
