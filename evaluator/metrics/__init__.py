"""Metrics and matching, as functions of numpy arrays."""
