"""Kernels that compute average precisions from the entries of precision/recall curves, also for bootstrap replicates.

An entry is a true or false positive with its confidence.
"""
