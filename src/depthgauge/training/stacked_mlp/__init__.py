"""Train many residual MLPs as one: the fast path."""
