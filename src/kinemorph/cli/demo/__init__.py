"""`kinemorph demo`: an organism of nine modules that crawls, or any robot, derived, verified and shown in a folder."""
