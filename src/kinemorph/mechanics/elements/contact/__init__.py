"""Laws of contact: where the ground is, how hard surfaces push, how they rub."""
