"""Explains scores of the relationships track with tables of errors and a row with the outcome of each pair."""
