"""The data of controllers and references, and the signals that they read and drive."""
