"""xacro: URDF with macros. `reader` expands them in a separate process with limits, which runs `child`."""
