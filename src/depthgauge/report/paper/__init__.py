"""Texts of a study for a paper: its tables and the filled reporting template."""
