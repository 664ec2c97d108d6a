"""depthgauge: does a learning rule train the depth of a network?"""

__version__ = "0.1.0"
