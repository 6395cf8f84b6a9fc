"""Exceptions and warnings."""


class Error(Exception):
    """Why a call could not finish: the text that the command would print, with file, byte offset and what to do."""


class UsageError(Error, ValueError):
    """Called wrongly; nothing was read or written. The command ends with status 2."""


class InputError(Error):
    """An input cannot be used, or ``strict`` met a defect. The command ends with status 3."""


class MachineError(Error, OSError):
    """The system failed, or the memory budget is impossible. The command ends with status 4."""


class TracemillWarning(UserWarning):
    """What the command would warn of: something was lost, or is not as it was asked for."""
