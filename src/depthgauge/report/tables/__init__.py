"""The tables of a study, each defined once and in a file of its own."""
