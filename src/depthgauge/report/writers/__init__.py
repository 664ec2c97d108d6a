"""Writers of tables and texts for the terminal, the page, Markdown and LaTeX."""
