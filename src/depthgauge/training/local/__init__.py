"""Train runs of any network, one after the other: the general path."""
