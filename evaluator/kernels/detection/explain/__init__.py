"""Compiled kernels that determine the outcome of each prediction and each object, to explain a score."""
