"""Speed: the time per evaluation, the time to compile, the time to load a URDF, the cost of every formulation."""
