"""The diagnostics, one file for each, and the contract by which they are declared."""
