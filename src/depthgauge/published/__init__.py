"""Published experiments: their recipes, their figures, and the comparison with a study."""
