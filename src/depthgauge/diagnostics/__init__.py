"""Diagnostics: one file for each, and the contract that they keep."""
