"""How credit is given: one file for each learning rule, and the contract they share."""
