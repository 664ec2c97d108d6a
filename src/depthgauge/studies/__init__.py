"""Grids of runs: planned, trained, summarised, compared with published figures."""
