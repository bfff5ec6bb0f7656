"""Compares the entries of a leaderboard to find tie groups and the ranks that each team could have."""
