"""How a table is written: for the terminal, the page, Markdown and LaTeX."""
