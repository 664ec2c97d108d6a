"""The tables of a study, one file for each."""
