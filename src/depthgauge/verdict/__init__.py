"""The verdict over seeds: thresholds, statistical tests, used depth, and one word."""
