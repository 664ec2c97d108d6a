"""On a Ray cluster: each cohort is a task, also where nodes cannot see the study's folder."""
