"""Services that update leaderboards and compare their entries."""
