"""The command line: parse a command, call the function of that name in `api.py`, and print."""
