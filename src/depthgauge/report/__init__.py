"""The output for people: terminal, notebook, charts, page and paper."""
