"""Explains relationships scores with tables of errors and the outcome of each pair."""
