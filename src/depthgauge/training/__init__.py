"""Train runs; a cohort is a group of runs that are trained together."""
