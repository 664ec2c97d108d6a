"""Speed of the cohort engine, against loops and scripts."""
