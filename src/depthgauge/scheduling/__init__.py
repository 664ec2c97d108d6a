"""Plan which runs are trained together, train them in processes, and read how far they are."""
