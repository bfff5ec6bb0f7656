"""Compares the entries of a leaderboard with statistical tests, to find ties and the rank interval of each team.

A rank interval is a confidence interval for a rank. A tie group consists of teams with consecutive ranks whose scores
do not differ significantly from that of the first team in the group.
"""
