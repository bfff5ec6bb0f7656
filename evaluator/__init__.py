"""Podium's evaluator: the metrics of computer-vision challenges and their command line. It does not use Django."""

__version__ = "1.1.0"
