"""Compares the entries of a leaderboard, to find tie groups and the interval of ranks that each team could have."""
