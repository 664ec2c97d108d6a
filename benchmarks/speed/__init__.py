"""The speed of the cohort engine, compared with plain loops and scripts."""
