"""Train on a Ray cluster: each cohort is a task, even if nodes cannot see the study's folder."""
