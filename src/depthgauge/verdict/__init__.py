"""What the readings mean: thresholds, intervals over seeds, the verdict's words."""
