"""Attacks on the server of pages: targets, a table of attacks, and switches that turn its guards off."""
