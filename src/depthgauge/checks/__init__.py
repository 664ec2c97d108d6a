"""Does a rule keep its contract? Small checks on tiny networks, each with a sentence to say."""
