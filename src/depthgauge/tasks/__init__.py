"""Tasks: the data sets that networks learn, and the code that loads them."""
