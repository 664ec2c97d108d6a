"""What is read off a network: one file for each reading. A gauge never trains."""
