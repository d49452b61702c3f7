"""What tests of the studio share."""
