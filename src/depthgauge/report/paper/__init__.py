"""What of a study goes into a paper: its tables and the filled reporting template."""
