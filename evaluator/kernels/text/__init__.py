"""Kernels that scan text: from bytes to cells, numbers and codes."""
