"""What people look at: tables, words, figures."""
