"""Podium's evaluator: metrics of computer-vision challenges and the ``podium`` command line. It does not use Django."""

__version__ = "1.1.0"
