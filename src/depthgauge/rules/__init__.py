"""Learning rules, one file each, and the contract that they share."""
