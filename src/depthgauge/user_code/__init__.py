"""Import users' Python files, and turn classes from a notebook into such files."""
