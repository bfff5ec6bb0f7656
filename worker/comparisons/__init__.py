"""Compares the entries of a leaderboard, to find its tie groups and the rank interval of each team."""
