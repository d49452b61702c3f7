"""xacro: URDF with macros, expanded in a limited process of its own. `reader`, and `child`, which runs there."""
