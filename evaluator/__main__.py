"""``python -m evaluator`` is ``podium``."""

import sys

from evaluator.cli import main

if __name__ == "__main__":
    sys.exit(main())
