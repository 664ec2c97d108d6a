"""What people look at: terminal, figures, page, paper."""
