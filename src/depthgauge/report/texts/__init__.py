"""Sentences about a study, one file for each topic."""
