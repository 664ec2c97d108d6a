"""Say in words what depthgauge sees of a network, and what it can do with the network."""
