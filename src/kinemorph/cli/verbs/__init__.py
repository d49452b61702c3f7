"""One file per verb of the command line, called after the verb: its options, the calls, and what it prints."""
