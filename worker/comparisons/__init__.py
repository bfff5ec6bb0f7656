"""Compares the entries of a leaderboard: tie groups, and the ranks that each team could have."""
