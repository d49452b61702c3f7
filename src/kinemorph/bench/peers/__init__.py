"""Other libraries on the same robots: Pinocchio in C++ and from Python, MuJoCo, and the browser that opens replays."""
