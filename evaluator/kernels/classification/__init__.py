"""Kernels that read image-level labels."""
