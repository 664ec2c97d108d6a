"""Import Python files of users, and turn classes of a notebook into such files."""
