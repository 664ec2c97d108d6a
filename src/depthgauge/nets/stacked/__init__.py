"""Many residual networks of one shape, held and run as one."""
