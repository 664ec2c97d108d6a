"""The report as one HTML file that needs no other file and no network."""
