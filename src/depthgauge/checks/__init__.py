"""Check on tiny networks whether a rule keeps its contract, and say in a sentence what is wrong."""
