"""The command."""

import os
import signal
import sys

from ._native import main as command


def main() -> int:
    """Runs the command; its status."""
    # what a signal does is for the command to say
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # tracemill-query is looked for where pip puts programs
    return command([os.path.join(os.path.dirname(sys.executable), "tracemill"), *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
