"""Figures for papers and pages, one file for each, all in one style."""
