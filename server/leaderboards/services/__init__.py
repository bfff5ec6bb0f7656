"""Services that keep leaderboards."""
