"""Many residual networks of one shape, stacked and run as one network."""
