"""The audit: reads every gauge on the networks of a study, or on a user's checkpoints."""
