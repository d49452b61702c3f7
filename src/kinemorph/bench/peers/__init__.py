"""Other libraries on the same robots: Pinocchio from C++ and from Python, MuJoCo, and the browser for replays."""
