"""Python text of users: files that are imported, notebook classes that become files."""
