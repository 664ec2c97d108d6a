"""Train on a Ray cluster, whose nodes need not share the study's folder."""
