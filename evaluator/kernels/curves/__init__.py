"""Kernels that compute average precisions from the entries of precision/recall curves."""
