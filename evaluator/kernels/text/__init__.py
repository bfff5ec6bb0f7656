"""Kernels that split text into cells, and convert cells to numbers and integer codes."""
