"""Losses: the value and error of each sample, and the score that a study reports."""
