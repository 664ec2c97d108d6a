"""Train runs, many at once as one cohort."""
