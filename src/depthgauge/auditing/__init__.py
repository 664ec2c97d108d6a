"""Reading every gauge off the networks of a study, or off somebody's checkpoints."""
