"""What is said of a study in sentences, one file for each topic."""
