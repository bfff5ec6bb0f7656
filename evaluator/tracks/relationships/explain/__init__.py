"""Explanations of a relationships score: kinds of errors, and what became of each pair."""
