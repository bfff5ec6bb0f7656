"""Kernels that read and match relationships."""
