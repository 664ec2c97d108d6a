"""What each reading says: one file for each diagnostic, and the contract they keep."""
