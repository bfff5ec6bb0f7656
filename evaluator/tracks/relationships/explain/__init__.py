"""Explanations of a relationships score: kinds of errors, and the outcome of each pair."""
