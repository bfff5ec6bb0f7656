"""Podium's scorer and participants' kit: exact metrics of computer-vision challenges, without Django."""

__version__ = "1.1.0"
