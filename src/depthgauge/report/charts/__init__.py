"""Charts of a study: one file for each, shown on pages and in notebooks, and written to files."""
