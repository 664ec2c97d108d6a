"""Import users' Python files, and write classes from a notebook to Python files."""
