"""The laws of automata and of held points."""
