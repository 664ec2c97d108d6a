"""Networks of users: built by their functions, known by the hash of their files."""
