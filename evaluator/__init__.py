"""Podium's evaluator: metrics for computer-vision challenges, and the ``podium`` command. It does not use Django."""

__version__ = "1.1.0"
