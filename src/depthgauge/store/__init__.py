"""Where results live: one folder for each run, nothing ever overwritten."""
