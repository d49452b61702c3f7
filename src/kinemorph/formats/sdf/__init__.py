"""SDF: models, nested and included, whose poses are told against any frame. `reader`, and its parts."""
