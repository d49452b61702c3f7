"""Pictures of optimized designs."""
