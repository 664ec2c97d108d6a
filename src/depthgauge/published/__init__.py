"""Published experiments: recipe, figures, and the comparison with what was measured."""
