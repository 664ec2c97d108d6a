"""The data sets that networks learn, one file for each."""
