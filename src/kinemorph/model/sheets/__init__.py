"""What robots, assemblies and module types have to show, as sheets."""
