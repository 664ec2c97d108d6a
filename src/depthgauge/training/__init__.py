"""How runs are trained: many at once, as one cohort."""
