"""Cut any network at the boundaries of its blocks: record its stream, and replace gradients."""
