"""Explanations of a relationships score: error kinds and the fate of every pair."""
