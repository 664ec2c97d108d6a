"""Networks of the package beside ResidualMLP, one file each."""
