"""Kernels of relationships."""
