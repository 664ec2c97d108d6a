"""A study as one typed object: what was trained, what was read, what it means."""
