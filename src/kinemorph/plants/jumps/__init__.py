"""How the memory and the state of a plant jump: samples, switches of elements, edges of automata, resets."""
