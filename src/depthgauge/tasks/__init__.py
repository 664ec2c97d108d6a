"""What is learned: one file for each data set."""
