"""The scorer of Podium and its command line: exact metrics of computer-vision challenges, without Django."""

__version__ = "1.1.0"
