"""Which runs are trained together, by which processes, and how far they are."""
