"""A study as one typed object: its runs, its readings and its verdicts."""
