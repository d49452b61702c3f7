"""The requests of the panels: one file per panel, called like the panel's module in page/panels/."""
