"""Plan the runs of a study, train them on this machine or a cluster, and read their progress."""
