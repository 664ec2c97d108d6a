"""The files of a study: one folder for each run, and nothing is ever overwritten."""
