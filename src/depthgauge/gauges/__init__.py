"""Gauges: one file for each reading of a network. A gauge measures and never trains."""
