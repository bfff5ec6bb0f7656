"""Kernels that compute average precisions from the entries of precision/recall curves.

An entry is a true or false positive with its confidence.
"""
