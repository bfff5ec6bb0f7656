"""Kernels that convert text to cells, numbers and codes."""
