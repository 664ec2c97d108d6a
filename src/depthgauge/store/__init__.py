"""Read and write the files of a study: one folder for each run; results are never overwritten."""
