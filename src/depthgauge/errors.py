"""The one error that is shown to the user as a sentence."""


class UserError(Exception):
    """Something the user can mend: the message names it and says what would be right.

    The command line prints the message on standard error and exits with status 2; nothing else
    that the user typed is lost or overwritten.
    """
