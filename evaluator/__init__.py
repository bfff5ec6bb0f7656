"""Podium's evaluator: metrics for computer-vision challenges and the ``podium`` command line. Does not use Django."""

__version__ = "1.1.0"
