"""Runs the ``podium`` command as ``python -m evaluator``."""

import sys

from evaluator.cli import main

if __name__ == "__main__":
    sys.exit(main())
