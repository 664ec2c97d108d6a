"""The command line: parse a command, call the function of its name in `api.py`, print."""
